#include "client/commands/commands.h"

#include <cstdio>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "client/commands/leaving.h"
#include "client/exchange/project_api.h"
#include "client/folder/attach.h"
#include "client/folder/choose_project.h"
#include "client/folder/data_folder.h"
#include "client/folder/log_file.h"
#include "client/status/contact.h"
#include "client/status/status_text.h"

namespace quorate::client {
namespace {

using nlohmann::json;

constexpr Seconds kDetachPatience{60};

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

// Here, or by the agent that works in the folder.
void remove_project(const DataFolder& folder, const Project& project) {
  const SystemClock clock;
  const Instant end = clock.now() + kDetachPatience;
  while (!folder.detach(project)) {
    if (clock.now() > end) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("detach from {}: the agent that works in {} has "
                              "not let go of it in {:.0f} s: stop that agent, "
                              "then detach again",
                              project.url, folder.root().string(),
                              kDetachPatience.count()));
    }
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace

void attach(const fs::path& dir, const AttachOptions& options, bool as_json) {
  const DataFolder folder(dir);
  const Attached attached = attach_project(folder, options, make_curl_transfer,
                                           SystemClock().unix_ms());
  const Project& project = attached.project;
  const bool is_first = attached.is_first;
  // Makes the host's key now, so that `run` can miss it.
  const Identity identity = identity_of(folder, project);
  const PublicKey& account = identity.account.public_key();
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
  Project project =
      choose_project(folder.projects(), url, "detach FINGERPRINT");
  if (deletes_account) delete_account(folder, project);
  std::uint64_t given_up = unfinished_results(folder, project.id);
  remove_project(folder, project);
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

void finish(const fs::path& dir, bool as_json) {
  DataFolder::open(dir).set_pause(Pause{.finishes = true});
  say("{}\n", as_json ? json{{"finishing", true}}.dump()
                      : std::string("takes no new work; what is here is "
                                    "computed and reported"));
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
  while (!should_leave()) {
    std::fflush(stdout);
    std::this_thread::sleep_for(kTick);
    say("{}", log.more());
  }
}

void run_ui(const fs::path& dir, const UiOptions& options) {
  catch_signals();
  serve_ui(dir, options, should_leave());
}

}  // namespace quorate::client
