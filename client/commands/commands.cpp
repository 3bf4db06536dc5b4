#include "client/commands/commands.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "client/agent/agent.h"
#include "client/folder/attach.h"
#include "client/folder/choose_project.h"
#include "client/folder/data_folder.h"
#include "client/folder/log_file.h"
#include "client/machine/find_devices.h"
#include "client/machine/host_info.h"
#include "client/permission/governor.h"
#include "client/status/contact.h"
#include "client/status/status_text.h"
#include "protocol/transfer/statement.h"

namespace quorate::client {
namespace {

using nlohmann::json;

// The one mutable global: a signal handler can reach nothing else.
std::atomic<bool> should_leave{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  should_leave = true;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // The second one ends us at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);  // the terminal was closed
}

// The project as it was attached before.
std::optional<Project> known_project(const std::vector<Project>& known,
                                     const ProjectId& id) {
  for (const Project& project : known) {
    if (project.id == id) return project;
  }
  return std::nullopt;
}

json project_json(const Project& project) {
  return {{"project", project.statement.name},
          {"url", project.url},
          {"fingerprint", fingerprint(project.id)}};
}

// Said by `attach`, before anything of it is sent.
std::string privacy_text(const Identity& identity) {
  return fmt::format(
      "sent to the project: your public keys and name, this computer's name "
      "({}), {}, its devices (such as cpu:avx2 or cuda:0), their speed, and "
      "its results\n"
      "public on its page: names, system, devices, speed, results and credit; "
      "neither cores nor memory{}\n",
      identity.host_name, identity.platform,
      identity.is_name_chosen
          ? ""
          : ". To give this computer a name, attach again with --host-name");
}

std::vector<protocol::WorkerOptions> worker_options(const RunSettings& settings,
                                                    const Orders& orders) {
  std::vector<protocol::WorkerOptions> workers;
  for (const std::string& device : workers_of(settings)) {
    protocol::WorkerOptions options;
    options.program = protocol::find_worker_program();
    options.device = device;
    options.threads = orders.threads;
    options.cpu_percent = orders.cpu_percent;
    options.gpu_percent = orders.gpu_percent;
    options.memory_mb = orders.memory_mb;
    options.niceness = kWorkerNiceness;
    workers.push_back(options);
  }
  return workers;
}

// The settings with names of devices in the place of "auto".
RunSettings with_devices(RunSettings settings, const DataFolder& folder,
                         const Clock& clock) {
  const std::string automatic = RunSettings{}.devices.front();
  auto named =
      std::count(settings.devices.begin(), settings.devices.end(), automatic);
  if (named == 0) return settings;
  if (settings.devices.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--device: \"{}\" does not go with other devices: "
                            "give it alone, or name devices only",
                            automatic));
  }
  std::uint32_t cores = load_prefs(folder.prefs_file()).cores;
  settings.devices =
      find_devices({protocol::find_worker_program(), folder.speeds_file(),
                    cores == 0 ? physical_cores() : cores, kDevicePatience,
                    clock, should_leave});
  return settings;
}

void warn_of_new_computer(const DataFolder& folder) {
  if (!folder.has_host_key()) {
    log_warning("new_computer", {{"why",
                                  "host.key is missing: this computer "
                                  "joins as a new one"}});
  }
}

void delete_account(const DataFolder& folder, const Project& project) {
  const Identity identity = identity_of(folder, project);
  const auto transfer = make_curl_transfer(curl_options(project));
  Session session;
  try {
    ProjectApi(*transfer, identity, session, {}).delete_account();
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("detach from {} at {}: {}: nothing was changed "
                            "here; without --delete-account only this computer "
                            "forgets the project",
                            project.statement.name, project.url, error.what()));
  }
}

void run_here(Agent& agent, const fs::path& folder) {
  try {
    agent.run(should_leave);
  } catch (const std::exception&) {
    std::error_code unknown;
    if (fs::exists(folder, unknown) || unknown) throw;
    throw Error(ErrorKind::io,
                fmt::format("the data folder {} is gone: attach again",
                            folder.string()));
  }
}

}  // namespace

void attach(const fs::path& dir, const AttachOptions& options, bool as_json) {
  expect_name(options.name, "--name");
  expect_name(options.host_name, "--host-name");
  ProjectAddress address = parse_project_address(options.address);
  DataFolder folder(dir);
  Project project = fetch_project(address, make_curl_transfer);
  std::vector<Project> attached = folder.projects();
  expect_no_stranger(attached, project, address);
  expect_newest(attached, project, SystemClock().unix_ms());
  if (!options.account.empty()) folder.adopt_account(options.account);
  auto known = known_project(attached, project.id);
  project.has_own_keys = !known || known->has_own_keys;
  project.user_name = options.name;
  if (options.name.empty() && known) project.user_name = known->user_name;
  project.host_name = options.host_name;
  if (options.host_name.empty() && known) project.host_name = known->host_name;
  folder.add_project(project);
  // Makes the host's key now, so that `run` can miss it.
  const Identity identity = identity_of(folder, project);
  const PublicKey& account = identity.account.public_key();
  bool is_first = address.fingerprint.empty() && !known;
  if (as_json) {
    json row = project_json(project);
    row["account"] = account.hex();
    row["host_name"] = identity.host_name;
    row["seen_for_the_first_time"] = is_first;
    say("{}\n", row.dump());
    return;
  }
  say("attached to {} at {}\n  fingerprint {}{}\n  account {}\n",
      project.statement.name, project.url, fingerprint(project.id),
      is_first ? " (seen for the first time and pinned: compare it with "
                 "the one that the project publishes)"
               : "",
      account.hex().substr(0, 16));
  say("{}", privacy_text(identity));
}

void detach(const fs::path& dir, const std::string& url, bool deletes_account,
            bool as_json) {
  DataFolder folder = DataFolder::open(dir);
  FileLock lock = folder.lock();
  Project project =
      choose_project(folder.projects(), url, "detach FINGERPRINT");
  if (deletes_account) delete_account(folder, project);
  std::uint64_t given_up = unfinished_results(folder, project.id);
  folder.remove_project(project);
  if (as_json) {
    json row = project_json(project);
    row["given_up"] = given_up;
    row["account_deleted"] = deletes_account;
    say("{}\n", row.dump());
    return;
  }
  say("detached from {} at {}: {} given up; account.key is kept in {}{}\n",
      project.statement.name, project.url,
      count_text(given_up, "unfinished result"), folder.root().string(),
      deletes_account ? "; the account was deleted there" : "");
}

namespace {

// The site that this host is a member of, if it is one of any: its door is open
// as long as this lives.
class Site {
 public:
  Site(const DataFolder& folder, AgentParts& parts, ResultTamper* tamper) {
    const std::optional<SiteSettings> settings = read_site(folder);
    if (!settings) return;
    try {
      open(*settings, parts, tamper);
    } catch (const Error& error) {  // another program has the port
      if (error.kind() != ErrorKind::io) throw;
      log_warning("site_not_joined", {{"why", error.what()}});
    }
  }

 private:
  void open(const SiteSettings& settings, AgentParts& parts,
            ResultTamper* tamper) {
    door_.emplace(settings, [objects = parts.folder / "objects",
                             tamper](const Hash& hash) {
      std::optional<fs::path> file = ObjectCache(objects).snapshot(hash);
      if (file && tamper != nullptr) file = tamper->before_giving(*file);
      return file;
    });
    mates_.emplace(settings.secret, door_->contact(), parts.clock);
    parts.site.emplace(SiteParts{*door_, *mates_});
    log_info("site",
             {{"id", settings.secret.id().hex()}, {"port", door_->port()}});
  }

  std::optional<SiteDoor> door_;
  std::optional<Mates> mates_;
};

}  // namespace

void run_agent(const fs::path& dir, const std::string& project_name,
               const RunSettings& wanted, ResultTamper* tamper) {
  DataFolder folder = DataFolder::open(dir);
  FileLock lock = folder.lock();
  Project project =
      choose_project(folder.projects(), project_name, "--project FINGERPRINT");
  start_logging(LogLevel::info,
                RotatingLog{log_file(folder.root()).string(), kLogBytes});
  warn_of_new_computer(folder);
  const Identity identity = identity_of(folder, project);
  SystemClock clock;
  Network network;
  catch_signals();
  const RunSettings settings = with_devices(wanted, folder, clock);
  Governor governor(folder, settings, Machine(), clock, network);
  AgentParts parts{project,
                   identity,
                   folder.project_folder(project.id),
                   [&governor](const std::vector<int>& workers) {
                     return governor.orders(workers);
                   },
                   [&project, &network] {
                     CurlOptions options = curl_options(project);
                     options.network = &network;
                     return make_curl_transfer(options);
                   },
                   worker_options(settings, governor.orders({})),
                   settings.once,
                   clock,
                   &network,
                   tamper,
                   {},
                   folder.root()};
  parts.fetch_statement = [&project, &network](const std::stop_token& stop) {
    // It proves itself, and may name the server's new certificate.
    CurlOptions options{project.url, TlsTrust::unchecked, ""};
    options.network = &network;
    return fetch_statement(*make_curl_transfer(options), stop);
  };
  log_info("started", {{"project", project.statement.name},
                       {"url", project.url},
                       {"devices", devices_text(workers_of(settings))}});
  Site site(folder, parts, tamper);
  std::optional<std::uint64_t> before;
  std::optional<Project> renewed;
  while (true) {
    if (renewed) project = *renewed;  // no agent is there to read it
    Agent agent(parts);
    if (!before) before = agent.state().counters.reported;
    run_here(agent, parts.folder);
    if (!agent.renewed() || should_leave) {
      const std::uint64_t reported = agent.state().counters.reported - *before;
      log_info("left", {{"reported", reported}});
      // The terminal may be gone: SIGHUP.
      say(stderr, "{}\n", farewell_text(reported, agent.state().tasks));
      return;
    }
    renewed = agent.renewed();
  }
}

void show_status(const fs::path& dir, bool as_json) {
  Status status = read_status(DataFolder::open(dir), SystemClock().unix_ms());
  say("{}", as_json ? status_json(status) + "\n" : status_text(status));
}

void pause(const fs::path& dir, const std::string& duration, bool as_json) {
  std::int64_t now = SystemClock().unix_ms();
  Pause pause;
  if (!duration.empty()) {
    auto length = parse_duration(duration).count() * 1000;
    pause = {now, now + static_cast<std::int64_t>(length)};
  }
  DataFolder::open(dir).set_pause(pause);
  if (as_json) {
    json until = pause.until == 0 ? json(nullptr) : json(pause.until);
    say("{}\n", json{{"paused", true}, {"until", until}}.dump());
    return;
  }
  say("paused {}\n", pause_text(pause, now));
}

void resume(const fs::path& dir, bool as_json) {
  DataFolder::open(dir).set_pause(std::nullopt);
  say("{}\n",
      as_json ? json{{"paused", false}}.dump() : std::string("resumed"));
}

void show_log(const fs::path& dir, std::size_t lines, bool follow) {
  fs::path folder = DataFolder::open(dir).root();
  LogReader log(folder);
  if (!log.exists()) {
    say(stderr, "no log in {} yet: `quorate-client run` writes one\n",
        folder.string());
  }
  say("{}", log.last(lines));
  if (!follow) return;
  catch_signals();
  while (!should_leave) {
    std::fflush(stdout);
    std::this_thread::sleep_for(kTick);
    say("{}", log.more());
  }
}

void run_ui(const fs::path& dir, const UiOptions& options) {
  catch_signals();
  serve_ui(dir, options, should_leave);
}

}  // namespace quorate::client
