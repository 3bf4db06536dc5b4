#include "client/stock_boinc/commands.h"

#include <cstdio>
#include <iostream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "client/folder/attach.h"
#include "client/status/contact.h"
#include "client/stock_boinc/account.h"
#include "client/stock_boinc/text.h"

namespace quorate::client {
namespace {

using nlohmann::json;

// A client asks a new project within seconds, unless it is busy with another.
constexpr Seconds kPatience{60};
constexpr std::chrono::milliseconds kLookEvery{500};

// Nothing must be made at a project that is not the one that was meant.
void expect_fingerprint(const ProjectAddress& address) {
  if (!address.fingerprint.empty()) fetch_project(address, make_curl_transfer);
}

// The account's key, new or as given, of a project that lets BOINC clients in.
std::string account_key(const ProjectAddress& address,
                        const StockAttachOptions& options) {
  try {
    const auto transfer =
        make_curl_transfer({address.url, TlsTrust::authorities, ""});
    if (options.key.empty()) return create_account(*transfer, options.name);
    expect_boinc_door(*transfer);
    return options.key;
  } catch (const Error& e) {
    throw Error(e.kind(),
                fmt::format("attach to {}: {}", address.url, e.what()));
  }
}

// On a terminal, how long we have waited; gone when the waiting ends.
class WaitingLine {
 public:
  ~WaitingLine() {
    if (is_terminal_) print("\r\033[K");
  }
  void show(Seconds waited) const {
    if (!is_terminal_) return;
    print(fmt::format("\rthe client asks the project ... {:.0f} s",
                      waited.count()));
  }

 private:
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  bool is_terminal_ = ::isatty(STDERR_FILENO) != 0;
};

// The state of the client once it has heard from that project, or after a
// while without.
StockState await_contact(StockClient& client, const std::string& url,
                         int since) {
  const SystemClock clock;
  const Instant began = clock.now();
  const WaitingLine line;
  StockState state;
  do {
    std::this_thread::sleep_for(kLookEvery);
    line.show(clock.now() - began);
    state = client.state();
  } while (first_contact(find_project(state, url), since).step ==
               FirstContact::Step::waiting &&
           state.network_suspended == 0 && clock.now() - began < kPatience);
  return state;
}

// Throws unavailable when the first contact has failed. Returns the project;
// it may not have answered yet.
const StockProject& expect_contact(const StockState& state,
                                   const std::string& url, int since,
                                   const std::string& where) {
  const StockProject* project = find_project(state, url);
  const FirstContact contact = first_contact(project, since);
  if (contact.step != FirstContact::Step::failed) return *project;
  throw Error(
      ErrorKind::unavailable,
      fmt::format(
          "the BOINC client at {} is attached to {}, but their first contact "
          "failed: {}: the client tries again by itself; if the address or key "
          "is wrong, undo this with quorate-client boinc detach",
          where, url, contact.why));
}

std::string row_text(const StockProject& project, const std::string& key,
                     bool was_attached) {
  json row{{"project", project.name},
           {"url", project.url},
           {"host", project.host},
           {"was_attached", was_attached}};
  if (!key.empty()) row["key"] = key;
  return row.dump(-1, ' ', false, json::error_handler_t::replace);
}

void print_was_attached(const StockProject& project, const std::string& where) {
  say("the BOINC client at {} is attached to {} ({}) already: nothing "
      "changed\n",
      where, project.name, project.url);
}

void print_attached(const StockState& state, const StockProject& project,
                    const std::string& where, const std::string& key) {
  say("attached the BOINC client at {} to {} ({})\n"
      "  account key {}: keep it secret; give it with --key to add more "
      "computers of yours\n",
      where, project.name, project.url, key);
  if (project.host == 0) {
    say("  the project has not answered yet: the client keeps asking\n");
  }
  say("{}", next_text(state));
}

// Throws usage when the answer is no, or cannot be asked for.
void expect_agreement(const StockProject& project) {
  const std::string what =
      fmt::format("detach from {}: {} and all its files are given up",
                  project.name, count_text(project.tasks.size(), "task"));
  if (::isatty(STDIN_FILENO) == 0) {
    throw Error(ErrorKind::usage, what + ": say --yes to confirm");
  }
  say("{}. Continue? [y/N] ", what);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes") return;
  throw Error(ErrorKind::usage, "detach: nothing was changed");
}

}  // namespace

void attach_stock(const StockOptions& where, const StockAttachOptions& options,
                  bool as_json) {
  expect_name(options.name, "--name");
  if (!options.key.empty()) expect_account_key(options.key);
  const ProjectAddress address = parse_boinc_address(options.address);
  const std::string url = boinc_master_url(address);
  StockClient client = open_stock_client(where);
  const StockState before = client.state();
  if (const StockProject* project = find_project(before, url)) {
    if (as_json) {
      say("{}\n", row_text(*project, "", true));
    } else {
      print_was_attached(*project, client.where());
    }
    return;
  }
  expect_fingerprint(address);
  const std::string key = account_key(address, options);
  client.attach(url, key);
  const int since = before.last_message;
  const StockState after = await_contact(client, url, since);
  const StockProject& project =
      expect_contact(after, url, since, client.where());
  if (as_json) {
    say("{}\n", row_text(project, key, false));
  } else {
    print_attached(after, project, client.where(), key);
  }
}

void show_stock(const StockOptions& where, bool as_json) {
  StockClient client = open_stock_client(where);
  const StockState state = client.state();
  say("{}", as_json ? stock_status_json(state, client.where()) + "\n"
                    : stock_status_text(state, client.where()));
}

void detach_stock(const StockOptions& where, const std::string& address,
                  bool is_agreed, bool as_json) {
  const std::string url = boinc_master_url(parse_boinc_address(address));
  StockClient client = open_stock_client(where);
  const StockState state = client.state();
  const StockProject* project = find_project(state, url);
  if (project == nullptr) {
    throw Error(ErrorKind::usage,
                fmt::format("the BOINC client at {} is not attached to {}: "
                            "quorate-client boinc status lists its projects",
                            client.where(), url));
  }
  if (!is_agreed) expect_agreement(*project);
  client.detach(url);
  if (as_json) {
    say("{}\n", json{{"project", project->name},
                     {"url", project->url},
                     {"given_up", project->tasks.size()}}
                    .dump(-1, ' ', false, json::error_handler_t::replace));
    return;
  }
  say("detached the BOINC client at {} from {}: {} given up\n", client.where(),
      project->name, count_text(project->tasks.size(), "task"));
}

}  // namespace quorate::client
