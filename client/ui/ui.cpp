#include "client/ui/ui.h"

#include <cctype>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "client/machine/settings.h"
#include "client/ui/local_page.h"
#include "protocol/transfer/project_address.h"
#include "server/http/server.h"

#include <spawn.h>

namespace quorate::client {
namespace {

// Browsers let a page that is behind others ask once a minute.
constexpr Seconds kUnseen{300};

// Left to itself: a browser that it starts outlives us.
void start_browser(const fs::path& file) {
  std::string path = file.string();
  std::string program = "xdg-open";
  char* argv[] = {program.data(), path.data(), nullptr};
  pid_t pid = 0;
  if (::posix_spawnp(&pid, "xdg-open", nullptr, nullptr, argv, environ) != 0) {
    say(stderr,
        "open a browser: xdg-open is not installed: open the address "
        "above yourself\n");
  }
}

// What the page finds behind its #. Nothing in it means anything in HTML.
std::string offer_of(const std::string& link) {
  if (link.empty()) return "";
  const ProjectAddress address = parse_project_address(link);
  if (address.fingerprint.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("link {}: it has no fingerprint: anybody could "
                            "answer there",
                            shown_text(link)));
  }
  std::string offer = "#join=";
  for (const char c : address.url + "#" + address.fingerprint) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                          std::string_view("-._~").find(c) != std::string::npos;
    offer += is_plain ? std::string(1, c)
                      : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return offer;
}

}  // namespace

fs::path open_in_browser(const fs::path& folder, const std::string& url) {
  fs::path file = folder / "ui.html";
  std::string text = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><title>Quorate</title>"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\">"
      "<a href=\"{0}\">Quorate</a>\n",
      url);
  write_file_durably(file, as_bytes(text), 0600);
  start_browser(file);
  return file;
}

void serve_ui(const fs::path& dir, const UiOptions& options,
              const std::atomic<bool>& should_leave) {
  const std::string offer = offer_of(options.link);
  DataFolder folder(dir);
  SystemClock clock;
  LocalPage page(folder, clock);
  HttpOptions http;
  http.threads = 1;
  http.limits.max_connections = 64;
  HttpServer server(http);
  TcpListener listener;
  listener.port = options.port;
  page.set_port(server.listen(listener, page.router()));
  server.start();
  const std::string url = page.url() + offer;
  if (options.as_json) {
    say("{}\n", nlohmann::json{{"url", url}}.dump());
  } else {
    say("{}\nCtrl-C closes the page\n", url);
  }
  std::fflush(stdout);
  if (options.should_open) {
    open_in_browser(folder.root(), url);
  }
  while (!should_leave &&
         !(options.until_closed && clock.now() > page.last_seen() + kUnseen)) {
    std::this_thread::sleep_for(kTick);
  }
  server.stop(Seconds(1));
  std::error_code ignored;
  fs::remove(folder.root() / "ui.html", ignored);
}

}  // namespace quorate::client
