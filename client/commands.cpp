#include "client/commands.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/error.h"
#include "base/log.h"
#include "client/agent.h"
#include "client/attach.h"
#include "client/data_folder.h"
#include "client/governor.h"
#include "client/host_info.h"
#include "client/log_file.h"
#include "client/status.h"

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
}

bool is_meant(const Project& project, const std::string& name) {
  std::string plain = name.substr(0, name.find('#'));
  while (!plain.empty() && plain.back() == '/') plain.pop_back();
  if (plain == project.url || "https://" + plain == project.url) return true;
  return plain.size() >= 8 && matches(plain, project.id);
}

Project choose_project(const DataFolder& folder, const std::string& name) {
  std::vector<Project> projects = folder.projects();
  if (projects.empty()) {
    throw Error(ErrorKind::usage,
                "find a project: none is attached: quorate-client attach URL");
  }
  if (name.empty() && projects.size() == 1) return projects.front();
  auto found = std::find_if(
      projects.begin(), projects.end(),
      [&](const Project& project) { return is_meant(project, name); });
  if (!name.empty() && found != projects.end()) return *found;
  std::string known;
  for (const Project& project : projects) known += " " + project.url;
  throw Error(ErrorKind::usage,
              fmt::format("find project \"{}\": the attached ones are{}: name "
                          "one of them",
                          name, known));
}

// The volunteer's name in a project attached before; else empty.
std::string known_name(const DataFolder& folder, const ProjectId& id) {
  for (const Project& project : folder.projects()) {
    if (project.id == id) return project.user_name;
  }
  return "";
}

json project_json(const Project& project) {
  return {{"project", project.statement.name},
          {"url", project.url},
          {"fingerprint", fingerprint(project.id)}};
}

protocol::WorkerOptions worker_options(const RunSettings& settings,
                                       const Orders& orders) {
  protocol::WorkerOptions options;
  options.program = protocol::find_worker_program();
  options.device = settings.device;
  options.threads = orders.threads;
  options.cpu_percent = orders.cpu_percent;
  options.niceness = kWorkerNiceness;
  return options;
}

}  // namespace

void attach(const fs::path& dir, const AttachOptions& options, bool as_json) {
  ProjectAddress address = parse_project_address(options.address);
  DataFolder folder(dir);
  Project project = fetch_project(address, make_curl_transfer);
  if (!options.account.empty()) folder.adopt_account(options.account);
  PublicKey account = folder.account_key().public_key();
  project.user_name = options.name;
  if (options.name.empty()) project.user_name = known_name(folder, project.id);
  folder.add_project(project);
  if (as_json) {
    json row = project_json(project);
    row["account"] = account.hex();
    row["seen_for_the_first_time"] = address.fingerprint.empty();
    fmt::print("{}\n", row.dump());
    return;
  }
  fmt::print("attached to {} at {}\n  fingerprint {}{}\n  account {}\n",
             project.statement.name, project.url, fingerprint(project.id),
             address.fingerprint.empty()
                 ? " (seen for the first time, and pinned: compare it with "
                   "the project's)"
                 : "",
             account.hex().substr(0, 16));
}

void detach(const fs::path& dir, const std::string& url, bool as_json) {
  DataFolder folder(dir);
  FileLock lock = folder.lock();
  Project project = choose_project(folder, url);
  folder.remove_project(project);
  if (as_json) {
    fmt::print("{}\n", project_json(project).dump());
    return;
  }
  fmt::print("detached from {} at {}\n", project.statement.name, project.url);
}

void run_agent(const fs::path& dir, const std::string& project_name,
               const RunSettings& settings, ResultTamper* tamper) {
  DataFolder folder(dir);
  FileLock lock = folder.lock();
  Project project = choose_project(folder, project_name);
  start_logging(LogLevel::info,
                RotatingLog{log_file(folder.root()).string(), kLogBytes});
  Identity identity{project.id,        folder.account_key(), folder.host_key(),
                    project.user_name, host_name(),          platform_text()};
  SystemClock clock;
  Network network;
  Governor governor(folder, settings, Machine(), clock, network);
  catch_signals();
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
                   settings.tasks,
                   settings.once,
                   clock,
                   &network,
                   tamper};
  log_info("started", {{"project", project.statement.name},
                       {"url", project.url},
                       {"device", settings.device},
                       {"tasks", settings.tasks}});
  Agent agent(parts);
  agent.run(should_leave);
  log_info("left", {{"reported", agent.state().counters.reported}});
}

void show_status(const fs::path& dir, bool as_json) {
  Status status = read_status(DataFolder(dir), SystemClock().unix_ms());
  fmt::print("{}", as_json ? status_json(status) + "\n" : status_text(status));
}

void pause(const fs::path& dir, const std::string& duration, bool as_json) {
  std::int64_t now = SystemClock().unix_ms();
  Pause pause;
  if (!duration.empty()) {
    auto length = parse_duration(duration).count() * 1000;
    pause = {now, now + static_cast<std::int64_t>(length)};
  }
  DataFolder(dir).set_pause(pause);
  if (as_json) {
    json until = pause.until == 0 ? json(nullptr) : json(pause.until);
    fmt::print("{}\n", json{{"paused", true}, {"until", until}}.dump());
    return;
  }
  fmt::print("paused {}\n", pause_text(pause, now));
}

void resume(const fs::path& dir, bool as_json) {
  DataFolder(dir).set_pause(std::nullopt);
  fmt::print("{}\n",
             as_json ? json{{"paused", false}}.dump() : std::string("resumed"));
}

void show_log(const fs::path& dir, std::size_t lines, bool follow) {
  LogReader log(DataFolder(dir).root());
  fmt::print("{}", log.last(lines));
  if (!follow) return;
  catch_signals();
  while (!should_leave) {
    std::fflush(stdout);
    std::this_thread::sleep_for(kTick);
    fmt::print("{}", log.more());
  }
}

void run_ui(const fs::path& dir, const UiOptions& options) {
  catch_signals();
  serve_ui(dir, options, should_leave);
}

void show_prefs(const fs::path& dir, bool as_json) {
  Prefs prefs = load_prefs(DataFolder(dir).prefs_file());
  fmt::print("{}", as_json ? prefs_json(prefs) + "\n" : prefs_text(prefs));
}

void set_pref(const fs::path& dir, const std::string& key,
              const std::string& value, bool as_json) {
  const PrefInfo& info = pref_info(key);
  fs::path file = DataFolder(dir).prefs_file();
  Prefs prefs = load_prefs(file);
  set(prefs, info, value);
  save_prefs(file, prefs);
  fmt::print("{}\n", as_json ? prefs_json(prefs) : key + " " + value);
}

void reset_prefs(const fs::path& dir, const std::string& key, bool as_json) {
  fs::path file = DataFolder(dir).prefs_file();
  Prefs prefs;
  if (!key.empty()) {
    const PrefInfo& info = pref_info(key);
    prefs = load_prefs(file);
    set(prefs, info, value_text(Prefs{}, info));
  }
  save_prefs(file, prefs);
  if (as_json) {
    fmt::print("{}\n", prefs_json(prefs));
    return;
  }
  fmt::print("{} as by default\n", key.empty() ? "all preferences are" : key);
}

}  // namespace quorate::client
