#include "client/status/status_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/folder/local_time.h"
#include "client/status/contact.h"
#include "protocol/worker/worker_process.h"

namespace quorate::client {
namespace {

// What a task waits for, or what is being done with it.
std::string state_text(const TaskActivity& task) {
  struct Row {
    TaskState state;
    const char* waiting;
    const char* busy;
  };
  constexpr Row kTable[] = {
      {TaskState::needs_files, "waits for its files", "downloading"},
      {TaskState::ready, "waits for a worker", "waits for a worker"},
      {TaskState::computing, "computing", "computing"},
      {TaskState::computed, "waits to be signed", "is being signed"},
      {TaskState::uploading, "waits to be uploaded", "uploading"},
      {TaskState::reporting, "waits to be reported", "is being reported"},
      {TaskState::reported, "reported, not yet judged",
       "reported, not yet judged"},
      {TaskState::failed, "given up", "given up"},
      {TaskState::closed, "done", "done"},
  };
  for (const Row& row : kTable) {
    if (task.state == name_of(row.state)) {
      return task.is_busy ? row.busy : row.waiting;
    }
  }
  return task.state;
}

// What is left of a task while no agent runs.
std::string kept_text(const TaskActivity& task) {
  if (task.state == name_of(TaskState::uploading) ||
      task.state == name_of(TaskState::reporting)) {
    return "computed, not sent";
  }
  if (task.state != name_of(TaskState::needs_files)) return state_text(task);
  if (!task.is_kept) return "not begun";
  return task.steps == 0
             ? "begun, kept"
             : fmt::format("step {} of {}, kept", task.step, task.steps);
}

std::string agent_text(const Activity& activity) {
  std::string text = fmt::format("  agent: process {} on {}\n", activity.pid,
                                 computing_text(activity));
  text += fmt::format("  transfers: {:.1f} MB received, {:.1f} MB sent\n",
                      static_cast<double>(activity.received) / 1e6,
                      static_cast<double>(activity.sent) / 1e6);
  if (!activity.why.empty()) {
    text += fmt::format("  rests: {}\n", activity.why);
  }
  if (!activity.no_work.empty()) {
    text += fmt::format("  waits: {}\n", activity.no_work);
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
      "  the project says, as of {}: {} valid, {} invalid, {} pending, {} too "
      "late or failed; credit {:.3f} (all your computers: {:.3f})\n",
      clock_text(standing.asked), reply.valid, reply.invalid, reply.pending,
      reply.errors, reply.credit, reply.user_credit);
  for (const protocol::RunShare& share : reply.runs) {
    text += fmt::format(
        "    run {}: {} results are part of the model, in versions {} to {}\n",
        share.run, share.results, share.first_version, share.last_version);
  }
  return text;
}

std::string project_text(const ProjectStatus& status) {
  const Counters& counters = status.counters;
  bool is_running = status.activity.pid != 0;
  std::string text =
      fmt::format("{} ({})\n  fingerprint {}\n", status.project.statement.name,
                  status.project.url, fingerprint(status.project.id));
  if (!status.project.user_name.empty()) {
    text += fmt::format("  as {}\n", status.project.user_name);
  }
  text += is_running
              ? agent_text(status.activity)
              : "  no agent is running: start it with quorate-client run\n";
  if (!status.state_trouble.empty()) {
    text += fmt::format("  trouble: {}\n", status.state_trouble);
  }
  text += standing_text(status.standing);
  text += fmt::format(
      "  this computer: {} reported, {} accepted, {} rejected, {} cancelled, "
      "{} failed\n",
      counters.reported, counters.accepted, counters.rejected,
      counters.cancelled, counters.failed);
  for (const TaskActivity& task : status.tasks) {
    text += fmt::format("  result {}: {}\n", task.result,
                        task_text(task, is_running));
  }
  return text;
}

}  // namespace

std::string headline(const ProjectStatus& status) {
  const Activity& activity = status.activity;
  if (activity.pid == 0) return "no agent is running";
  if (!activity.why.empty()) return "resting";
  if (activity.is_away) return "project cannot be reached";
  if (activity.is_refused) return "refused by the project";
  if (activity.devices.empty()) return "starting";
  return activity.no_work.empty() ? "at work" : "waiting for work";
}

std::string headline(const Status& status) {
  for (const ProjectStatus& project : status.projects) {
    if (project.activity.pid != 0) return headline(project);
  }
  return status.is_waiting ? "waiting for a project"
                           : headline(ProjectStatus{});
}

std::string devices_text(const std::vector<std::string>& devices) {
  std::vector<std::string> parts;
  for (auto at = devices.begin(); at != devices.end();) {
    auto end = std::find_if(at, devices.end(),
                            [&](const auto& other) { return other != *at; });
    parts.push_back(end - at == 1 ? *at
                                  : fmt::format("{} x {}", end - at, *at));
    at = end;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string computing_text(const Activity& activity) {
  const std::vector<std::string>& devices = activity.devices;
  if (devices.empty()) return "(starting)";
  auto gpus = std::count_if(
      devices.begin(), devices.end(),
      [](const auto& device) { return protocol::is_gpu_name(device); });
  std::string text = devices_text(devices);
  if (gpus < static_cast<std::ptrdiff_t>(devices.size())) {
    text += fmt::format(", {} a task, {} % of the time",
                        count_text(activity.threads, "thread"),
                        activity.cpu_percent);
  }
  if (gpus > 0) {
    text += fmt::format("; GPU {} % of the time", activity.gpu_percent);
  }
  if (!activity.confinement.empty()) text += "; " + activity.confinement;
  return text;
}

std::string task_text(const TaskActivity& task, bool is_running) {
  if (!is_running) return kept_text(task);
  std::string text = state_text(task);
  bool is_computing = task.state == name_of(TaskState::computing);
  if (is_computing && !task.device.empty()) text += " on " + task.device;
  if (task.steps == 0) return text;
  return text + fmt::format(", step {} of {} ({} %)", task.step, task.steps,
                            100ULL * task.step / task.steps);
}

std::string status_text(const Status& status) {
  std::string text;
  if (!status.prefs_trouble.empty()) text += status.prefs_trouble + "\n";
  if (status.projects.empty()) {
    return text +
           (status.is_waiting ? "no project yet, and a client waits for one"
                              : "no project yet") +
           ": quorate-client attach URL\n";
  }
  if (status.pause && status.pause->finishes) {
    text += "takes no new work: `quorate-client resume` has it ask for some\n";
  } else if (status.pause) {
    text += fmt::format("paused {}: `quorate-client resume` ends the pause\n",
                        pause_text(*status.pause, status.time));
  }
  for (const ProjectStatus& project : status.projects) {
    text += project_text(project);
  }
  return text;
}

std::string farewell_text(std::uint64_t reported,
                          const std::vector<Task>& tasks) {
  std::uint64_t kept = count_unfinished(tasks);
  return fmt::format("stopped: {} reported, {} kept here{}",
                     count_text(reported, "result"), kept,
                     kept > 0 ? "; quorate-client run goes on with them" : "");
}

}  // namespace quorate::client
