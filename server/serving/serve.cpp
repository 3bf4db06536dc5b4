#include "server/serving/serve.h"

#include <fmt/format.h>
#include <malloc.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "server/apps/app_versions.h"
#include "server/doors/boinc/closed_door.h"
#include "server/doors/boinc/door.h"
#include "server/doors/native/native_door.h"
#include "server/doors/peers/peer_door.h"
#include "server/http/server.h"
#include "server/http/tls/tls.h"
#include "server/orders/service.h"
#include "server/page/page_routes.h"
#include "server/project/project.h"
#include "server/serving/announcement.h"
#include "server/serving/descriptors.h"
#include "server/settings/address.h"
#include "server/settings/key_renewal.h"
#include "server/web/web_routes.h"

namespace quorate {
namespace {

// Of the log; one older file is kept.
constexpr std::size_t kLogBytes = 64 << 20;

// A batch of requests needs the memory that the last one freed. Given back to
// the kernel in between, it cost a third of a request for work in page faults.
void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, 32 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

std::optional<TlsFiles> tls_files(const ServeOptions& options,
                                  const Endpoint& endpoint,
                                  const ProjectFolder& folder) {
  const bool is_tls = speaks_tls(options.settings, endpoint.address);
  if (!is_tls && !options.force_tls) return std::nullopt;
  if (!options.settings.tls_certificate.empty()) {
    return TlsFiles{options.settings.tls_certificate, options.settings.tls_key};
  }
  return TlsFiles{folder.tls_certificate(), folder.tls_key()};
}

HttpOptions http_options(const ServerSettings& settings,
                         const KnownClients& known) {
  HttpOptions options;
  options.known_clients = &known;
  options.threads = settings.io_threads;
  options.limits.max_connections =
      connections_within(raise_open_files(), settings.max_connections);
  options.limits.max_connections_per_address =
      settings.max_connections_per_address;
  for (const std::string& text : settings.trusted_proxies) {
    const auto block = parse_ip_block(text);
    check(block.has_value(), "settings name addresses alone");
    options.trusted_proxies.push_back(*block);
  }
  options.proxy_protocol = settings.proxy_protocol;
  return options;
}

// Signals become a wait: nothing runs in a handler.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  void wait() {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

void print_address(const ServedProject& served, bool as_json) {
  say("{}",
      as_json ? announcement_json(served).dump() + "\n" : announcement(served));
  std::fflush(stdout);
}

// Other users reach the admin socket through folders whose content they cannot
// list; what else lies there stays its owner's.
bool lets_others_in(const ProjectFolder& folder,
                    const ServerSettings& settings) {
  if (settings.operators.empty() && settings.guests.empty()) return false;
  for (const fs::path& path :
       {folder.root, folder.admin_socket().parent_path()}) {
    fs::permissions(path, fs::perms::owner_all | fs::perms::group_exec |
                              fs::perms::others_exec);
  }
  return true;
}

// Of one whose manifest cannot be read the door is open, and its log says why
// nothing is published.
bool has_boinc_key(const ProjectFolder& folder) {
  try {
    return boinc::load_app_manifest(folder).code_sign_key.has_value();
  } catch (const Error&) {
    return true;
  }
}

// Of the door, which is made, or of what stands there while it is closed.
void add_boinc_routes(Project& project, bool is_tls,
                      std::optional<boinc::BoincDoor>& door, Router& routes) {
  if (!project.state().settings.boinc) return;
  if (!has_boinc_key(project.folder())) return boinc::add_closed_door(routes);
  door.emplace(project, is_tls);
  door->add_routes(routes);
}

std::optional<std::int64_t> look_at_key(const ProjectKeys& keys) {
  const auto days = few_days_left(keys.ring, SystemClock().unix_ms());
  if (days) log_warning("key_ends", {{"days", *days}});
  return days;
}

void warn_of_unnamed_proxy() {
  log_warning("no_trusted_proxies", {{"then", kProxyUnnamed}});
}

[[noreturn]] void say_store_failed(const ProjectFolder& folder) {
  throw Error(ErrorKind::io,
              "serve: the store failed: see " + folder.log().string() +
                  ": free some space or repair the disk, then start again: "
                  "nothing that was acknowledged is lost");
}

}  // namespace

void serve(const fs::path& root, const ServeOptions& options) {
  StopSignals signals;  // before any thread starts, so that all inherit it
  keep_freed_memory();
  Endpoint endpoint = parse_endpoint(options.settings.listen);
  bool has_failed = false;
  Project project(root, options.settings, options.roles,
                  [&has_failed](const std::string&) {
                    has_failed = true;
                    ::kill(::getpid(), SIGTERM);
                  });
  start_logging(LogLevel::info,
                RotatingLog{project.folder().log().string(), kLogBytes});
  const std::optional<std::int64_t> days_left = look_at_key(project.keys());
  std::optional<TlsFiles> tls = tls_files(options, endpoint, project.folder());
  NativeDoor door(project, tls ? public_key_pin(tls->certificate) : "");
  std::optional<boinc::BoincDoor> boinc_door;
  PeerDoor peer_door(project);
  PageRoutes page(project);
  AdminService admin(project);
  Router routes;
  door.add_routes(routes);
  peer_door.add_routes(routes);
  add_boinc_routes(project, tls.has_value(), boinc_door, routes);
  page.add_routes(routes);
  WebRoutes web(project, admin,
                {tls.has_value(), is_loopback(endpoint.address)});
  web.add_routes(routes);
  Router admin_routes;
  admin.add_routes(admin_routes);

  const HttpOptions front =
      http_options(options.settings, project.state().known_clients);
  HttpServer http(front);
  std::uint16_t port =
      http.listen({endpoint.address, endpoint.port, tls}, std::move(routes));
  http.listen_unix(project.folder().admin_socket(), std::move(admin_routes),
                   lets_others_in(project.folder(), options.settings));
  if (boinc_door) boinc_door->start(options.worker);
  project.start();
  http.start();
  page.start([&http] { return http.counters(); });
  print_address({project.folder().root.string(),
                 fingerprint(project.keys().id),
                 {endpoint.address, port},
                 tls.has_value(),
                 options.settings,
                 options.roles,
                 days_left},
                options.as_json);
  log_info("serving", {{"port", port}, {"tls", tls.has_value()}});
  if (is_proxy_unnamed(options.settings)) warn_of_unnamed_proxy();
  warn_of_fewer_connections(front.limits.max_connections,
                            options.settings.max_connections);
  signals.wait();
  log_info("stopping");
  project.begin_stop();
  web.stop();
  http.stop();
  project.stop();
  if (has_failed) say_store_failed(project.folder());
}

}  // namespace quorate
