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
  status.standing = read_standing(folder / "standing.json");
  status.tasks = status.activity.tasks;
  if (status.activity.pid == 0) {
    for (const Task& task : state.tasks) {
      status.tasks.push_back(
          {task.id(), std::string(name_of(task.state)), 0, 0, false});
    }
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
                     {"busy", task.is_busy}});
  }
  return {{"name", status.project.statement.name},
          {"url", status.project.url},
          {"fingerprint", fingerprint(status.project.id)},
          {"user", status.project.user_name},
          {"running", status.activity.pid != 0},
          {"pid", status.activity.pid},
          {"device", status.activity.device},
          {"trouble", status.activity.trouble},
          {"rest", status.activity.rest},
          {"why", status.activity.why},
          {"threads", status.activity.threads},
          {"cpu_percent", status.activity.cpu_percent},
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

// A state of a task in words; `busy` is what turns waiting into doing.
std::string state_text(const TaskActivity& task) {
  if (task.state == name_of(TaskState::needs_files)) {
    return task.is_busy ? "downloading" : "waits for its files";
  }
  if (task.state == name_of(TaskState::uploading)) {
    return task.is_busy ? "uploading" : "waits to be uploaded";
  }
  return task.state;
}

std::string task_line(const TaskActivity& task) {
  std::string line =
      fmt::format("  result {}: {}", task.result, state_text(task));
  if (task.steps > 0) {
    line += fmt::format(", step {} of {} ({} %)", task.step, task.steps,
                        100ULL * task.step / task.steps);
  }
  return line + "\n";
}

std::string agent_text(const Activity& activity) {
  std::string text = fmt::format(
      "  agent: process {} on {}, {} threads a task, {} % of the time\n",
      activity.pid, activity.device.empty() ? "(starting)" : activity.device,
      activity.threads, activity.cpu_percent);
  text += fmt::format("  transfers: {:.1f} MB received, {:.1f} MB sent\n",
                      static_cast<double>(activity.received) / 1e6,
                      static_cast<double>(activity.sent) / 1e6);
  if (!activity.why.empty()) {
    text += fmt::format("  rests: {}\n", activity.why);
  }
  if (!activity.trouble.empty()) {
    text += fmt::format("  trouble: {}\n", activity.trouble);
  }
  return text;
}

std::string standing_text(const Standing& standing) {
  if (standing.asked == 0) return "";
  const protocol::StandingReply& reply = standing.reply;
  std::string text = fmt::format(
      "  the project says: {} valid, {} invalid, {} pending; credit {:.3f} "
      "(all your computers: {:.3f})\n",
      reply.valid, reply.invalid, reply.pending, reply.credit,
      reply.user_credit);
  for (const protocol::RunShare& share : reply.runs) {
    text += fmt::format(
        "    run {}: {} results are part of the model, in versions {} to {}\n",
        share.run, share.results, share.first_version, share.last_version);
  }
  return text;
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
    text += agent_text(status.activity);
  }
  text += standing_text(status.standing);
  text += fmt::format(
      "  this computer: {} reported, {} accepted, {} rejected, {} cancelled, "
      "{} failed\n",
      counters.reported, counters.accepted, counters.rejected,
      counters.cancelled, counters.failed);
  for (const TaskActivity& task : status.tasks) text += task_line(task);
  return text;
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
  return nlohmann::ordered_json{
      {"paused", status.pause.has_value()},
      {"paused_until", status.pause ? status.pause->until : 0},
      {"prefs", nlohmann::ordered_json::parse(prefs_json(status.prefs))},
      {"prefs_trouble", status.prefs_trouble},
      {"projects", std::move(projects)}}
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string status_text(const Status& status) {
  std::string text;
  if (!status.prefs_trouble.empty()) text += status.prefs_trouble + "\n";
  if (status.projects.empty()) {
    return text + "no project yet: quorate-client attach URL\n";
  }
  if (status.pause) {
    text += fmt::format("paused {}: quorate-client resume goes on\n",
                        pause_text(*status.pause, status.time));
  }
  for (const ProjectStatus& project : status.projects) {
    text += project_text(project);
  }
  return text;
}

}  // namespace quorate::client
