#include "client/status.h"

#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/error.h"

namespace quorate::client {
namespace {

bool is_alive(int pid) {
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

AgentState read_state(const fs::path& file) {
  if (!fs::exists(file)) return {};
  try {
    return parse_state(read_text_file(file));
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("read {}: {}: the next run starts "
                                      "afresh",
                                      file.string(), e.what()));
  }
}

ProjectStatus read_project(const Project& project, const fs::path& folder) {
  ProjectStatus status;
  status.project = project;
  AgentState state = read_state(folder / "state.json");
  status.counters = state.counters;
  status.activity = read_activity(folder / "activity.json");
  if (!is_alive(status.activity.pid)) status.activity = {};
  status.tasks = status.activity.tasks;
  if (status.activity.pid == 0) {
    for (const Task& task : state.tasks) {
      status.tasks.push_back(
          {task.id(), std::string(name_of(task.state)), 0, 0});
    }
  }
  return status;
}

nlohmann::ordered_json to_json(const ProjectStatus& status) {
  using Json = nlohmann::ordered_json;
  Json tasks = Json::array();
  for (const TaskActivity& task : status.tasks) {
    tasks.push_back({{"result", task.result},
                     {"state", task.state},
                     {"step", task.step},
                     {"steps", task.steps}});
  }
  return {{"name", status.project.statement.name},
          {"url", status.project.url},
          {"fingerprint", fingerprint(status.project.id)},
          {"user", status.project.user_name},
          {"running", status.activity.pid != 0},
          {"pid", status.activity.pid},
          {"device", status.activity.device},
          {"trouble", status.activity.trouble},
          {"reported", status.counters.reported},
          {"accepted", status.counters.accepted},
          {"rejected", status.counters.rejected},
          {"cancelled", status.counters.cancelled},
          {"failed", status.counters.failed},
          {"tasks", std::move(tasks)}};
}

std::string task_line(const TaskActivity& task) {
  std::string line = fmt::format("  result {}: {}", task.result, task.state);
  if (task.steps > 0) {
    line += fmt::format(", step {} of {} ({} %)", task.step, task.steps,
                        100ULL * task.step / task.steps);
  }
  return line + "\n";
}

std::string project_text(const ProjectStatus& status) {
  const Counters& counters = status.counters;
  std::string text =
      fmt::format("{} ({})\n  fingerprint {}\n", status.project.statement.name,
                  status.project.url, fingerprint(status.project.id));
  if (!status.project.user_name.empty()) {
    text += fmt::format("  as {}\n", status.project.user_name);
  }
  if (status.activity.pid == 0) {
    text += "  no agent is running: start it with quorate-client run\n";
  } else {
    text += fmt::format(
        "  agent: process {} on {}\n", status.activity.pid,
        status.activity.device.empty() ? "(starting)" : status.activity.device);
  }
  if (!status.activity.trouble.empty()) {
    text += fmt::format("  trouble: {}\n", status.activity.trouble);
  }
  text += fmt::format(
      "  results: {} reported, {} accepted, {} rejected, {} cancelled, {} "
      "failed\n",
      counters.reported, counters.accepted, counters.rejected,
      counters.cancelled, counters.failed);
  for (const TaskActivity& task : status.tasks) text += task_line(task);
  return text;
}

}  // namespace

Status read_status(const DataFolder& folder) {
  Status status;
  status.is_paused = folder.is_paused();
  for (const Project& project : folder.projects()) {
    status.projects.push_back(
        read_project(project, folder.project_folder(project.id)));
  }
  return status;
}

std::string status_json(const Status& status) {
  nlohmann::ordered_json projects = nlohmann::ordered_json::array();
  for (const ProjectStatus& project : status.projects) {
    projects.push_back(to_json(project));
  }
  return nlohmann::ordered_json{{"paused", status.is_paused},
                                {"projects", std::move(projects)}}
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string status_text(const Status& status) {
  if (status.projects.empty()) {
    return "no project yet: quorate-client attach URL\n";
  }
  std::string text;
  if (status.is_paused) text += "paused: quorate-client resume goes on\n";
  for (const ProjectStatus& project : status.projects) {
    text += project_text(project);
  }
  return text;
}

}  // namespace quorate::client
