#include "client/units/task.h"

#include <algorithm>
#include <cstdlib>

#include "client/machine/settings.h"

namespace quorate::client {
namespace {

Step next_of_computing(const Task& task, const Situation& situation) {
  bool should_stop = task.is_cancelled || situation.is_paused ||
                     is_overdue(task, situation.now);
  return should_stop && !task.is_stopping ? Step::stop : Step::wait;
}

bool is_forgotten(const Task& task, const Situation& situation) {
  constexpr auto kKeepMs = static_cast<Millis>(kKeepReported.count() * 1000);
  // In either direction: the clock may have been wrong when it was reported.
  return std::abs(situation.unix_ms - task.reported) > kKeepMs;
}

}  // namespace

std::string_view name_of(TaskState state) {
  switch (state) {
    case TaskState::needs_files:
      return "needs_files";
    case TaskState::ready:
      return "ready";
    case TaskState::computing:
      return "computing";
    case TaskState::computed:
      return "computed";
    case TaskState::uploading:
      return "uploading";
    case TaskState::reporting:
      return "reporting";
    case TaskState::reported:
      return "reported";
    case TaskState::failed:
      return "failed";
    case TaskState::closed:
      return "closed";
  }
  return "unknown";
}

Step next(const Task& task, const Situation& situation) {
  if (task.state == TaskState::computing) {
    return next_of_computing(task, situation);
  }
  if (task.is_busy) return Step::wait;
  if (task.is_cancelled) return Step::remove;
  if (situation.now < task.retry_at) return Step::wait;
  switch (task.state) {
    case TaskState::needs_files:
      return situation.is_paused ? Step::wait : Step::fetch;
    case TaskState::ready:
      return situation.is_worker_free && !situation.is_paused ? Step::start
                                                              : Step::wait;
    case TaskState::computed:
      return Step::sign;
    case TaskState::uploading:
      return Step::upload;
    case TaskState::reporting:
      return Step::report;
    case TaskState::reported:
      return is_forgotten(task, situation) ? Step::remove : Step::wait;
    case TaskState::closed:
      return Step::remove;
    case TaskState::computing:
    case TaskState::failed:  // until a heartbeat has told the project
      return Step::wait;
  }
  return Step::wait;
}

void enter(Task& task, TaskState state) {
  task.state = state;
  task.attempts = 0;
  task.obstacle.clear();
  task.retry_at = {};
}

bool is_overdue(const Task& task, Instant now) {
  return task.most_time > Seconds(0) &&
         task.computed + (now - task.started) > task.most_time;
}

bool is_uncomputed(const Task& task) {
  return task.state == TaskState::needs_files ||
         task.state == TaskState::ready || task.state == TaskState::computing;
}

bool is_on_its_way(const Task& task) {
  return task.state == TaskState::computed ||
         task.state == TaskState::uploading ||
         task.state == TaskState::reporting;
}

bool has_files(const Task& task) {
  return is_uncomputed(task) || is_on_its_way(task);
}

std::uint64_t count_unfinished(const std::vector<Task>& tasks) {
  auto count = std::count_if(tasks.begin(), tasks.end(), has_files);
  return static_cast<std::uint64_t>(count);
}

}  // namespace quorate::client
