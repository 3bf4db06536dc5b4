#include "client/status/status.h"

#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/error.h"
#include "client/status/status_text.h"

namespace quorate::client {
namespace {

bool is_alive(int pid) {
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

// Empty for a file that cannot be read, with `trouble` saying so.
AgentState read_state(const fs::path& file, std::string& trouble) {
  if (!fs::exists(file)) return {};
  try {
    return parse_state(read_text_file(file));
  } catch (const Error&) {
    trouble = fmt::format(
        "{} is damaged: the next run sets it aside and asks the project for "
        "the work again",
        file.string());
    return {};
  }
}

// The tasks of an agent that has left, with the steps that it told of last.
std::vector<TaskActivity> kept_tasks(const AgentState& state,
                                     const Activity& last,
                                     const fs::path& results) {
  std::vector<TaskActivity> tasks;
  for (const Task& task : state.tasks) {
    TaskActivity kept{task.id(), std::string(name_of(task.state))};
    for (const TaskActivity& told : last.tasks) {
      if (told.result != kept.result) continue;
      kept.step = told.step;
      kept.steps = told.steps;
    }
    kept.is_kept =
        fs::exists(results / std::to_string(kept.result) / "checkpoint");
    tasks.push_back(kept);
  }
  return tasks;
}

ProjectStatus read_project(const Project& project, const fs::path& folder) {
  ProjectStatus status;
  status.project = project;
  AgentState state = read_state(folder / "state.json", status.state_trouble);
  status.counters = state.counters;
  status.activity = read_activity(folder / "activity.json");
  status.standing = read_standing(folder / "standing.json");
  status.tasks = status.activity.tasks;
  if (!is_alive(status.activity.pid)) {
    status.tasks = kept_tasks(state, status.activity, folder / "results");
    status.activity = {};
  }
  return status;
}

nlohmann::ordered_json to_json(const Standing& standing) {
  if (standing.asked == 0) return nullptr;
  auto json = nlohmann::ordered_json::parse(protocol::write(standing.reply));
  json["asked"] = standing.asked;
  return json;
}

nlohmann::ordered_json to_json(const ProjectStatus& status) {
  using Json = nlohmann::ordered_json;
  Json tasks = Json::array();
  for (const TaskActivity& task : status.tasks) {
    tasks.push_back({{"result", task.result},
                     {"state", task.state},
                     {"step", task.step},
                     {"steps", task.steps},
                     {"busy", task.is_busy},
                     {"device", task.device},
                     {"text", task_text(task, status.activity.pid != 0)}});
  }
  return {{"name", status.project.statement.name},
          {"url", status.project.url},
          {"fingerprint", fingerprint(status.project.id)},
          {"user", status.project.user_name},
          {"headline", headline(status)},
          {"running", status.activity.pid != 0},
          {"pid", status.activity.pid},
          {"devices", status.activity.devices},
          {"confinement", status.activity.confinement},
          {"computing", computing_text(status.activity)},
          {"trouble", status.activity.trouble},
          {"state_trouble", status.state_trouble},
          {"no_work", status.activity.no_work},
          {"rest", status.activity.rest},
          {"why", status.activity.why},
          {"threads", status.activity.threads},
          {"cpu_percent", status.activity.cpu_percent},
          {"gpu_percent", status.activity.gpu_percent},
          {"received_bytes", status.activity.received},
          {"sent_bytes", status.activity.sent},
          {"reported", status.counters.reported},
          {"accepted", status.counters.accepted},
          {"rejected", status.counters.rejected},
          {"cancelled", status.counters.cancelled},
          {"failed", status.counters.failed},
          {"standing", to_json(status.standing)},
          {"tasks", std::move(tasks)}};
}

}  // namespace

Status read_status(const DataFolder& folder, std::int64_t unix_ms) {
  Status status;
  status.time = unix_ms;
  status.pause = folder.pause(unix_ms);
  try {
    status.prefs = load_prefs(folder.prefs_file());
  } catch (const Error& e) {
    status.prefs_trouble = e.what();
  }
  status.is_waiting = is_alive(folder.waiting());
  for (const Project& project : folder.projects()) {
    status.projects.push_back(
        read_project(project, folder.project_folder(project.id)));
  }
  return status;
}

std::uint64_t unfinished_results(const DataFolder& folder,
                                 const ProjectId& project) {
  std::string ignored;
  AgentState state =
      read_state(folder.project_folder(project) / "state.json", ignored);
  return count_unfinished(state.tasks);
}

std::string status_json(const Status& status) {
  nlohmann::ordered_json projects = nlohmann::ordered_json::array();
  for (const ProjectStatus& project : status.projects) {
    projects.push_back(to_json(project));
  }
  return nlohmann::ordered_json{
      {"headline", headline(status)},
      {"paused", status.pause && !status.pause->finishes},
      {"finishing", status.pause && status.pause->finishes},
      {"paused_until", status.pause ? status.pause->until : 0},
      {"prefs", nlohmann::ordered_json::parse(prefs_json(status.prefs))},
      {"prefs_trouble", status.prefs_trouble},
      {"projects", std::move(projects)}}
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace quorate::client
