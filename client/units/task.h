// One result in flight: its states, and the one function that says what comes
// next. The agent carries it out (agent_steps.cpp).
//
// The room client/units has what a result is to this machine: its states and
// their file, the checks of an assigned unit, the making of snapshots from
// changes. It owns state.json; the tasks themselves are the agent's. It may
// include client/exchange and what stands before it.
//
//   needs_files -> ready -> computing -> computed -> uploading -> reporting
//     -> reported -> closed
//   any of them up to `reporting` -> failed -> closed   (the project is told)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "workunits/assignment.h"
#include "workunits/result_header.h"

namespace quorate::client {

enum class TaskState {
  needs_files,
  ready,      // its objects are here and verified
  computing,  // in a worker
  computed,   // the update is on disk, not yet signed
  uploading,  // signed; the payload goes up
  reporting,  // the payload is there; the header goes up
  reported,   // the project has all of it, and will say that it is closed
  failed,     // to be given up: the project has to hear why
  closed,
};
std::string_view name_of(TaskState state);

struct Task {
  Assignment assignment;
  TaskState state = TaskState::needs_files;
  std::string failure;  // if failed
  Millis reported = 0;  // when
  // The rest is not kept on disk.
  std::string device;  // that it was asked for, or computes; empty: any
  std::uint32_t step = 0;
  std::uint32_t steps = 0;  // 0: unknown yet
  Claim claim;              // from `computed` to `uploading`; so are
  std::string computed_on;  // the device by its worker's words, and
  std::uint32_t arithmetic = 0;
  bool is_busy = false;      // a step is under way on another thread
  bool is_stopping = false;  // its worker was told to stop
  bool is_cancelled = false;
  bool may_resume = false;     // an upload was begun before
  bool was_doubted = false;    // its objects were hashed, and fetched, again
  std::string upload_session;  // under which the payload is complete
  std::uint32_t attempts = 0;  // of the present state that failed
  std::uint32_t aborts = 0;    // of workers that computed it
  std::string obstacle;        // of this machine that they met: a full disk
  Instant retry_at{};
  Instant started{};     // its worker, if computing
  Seconds computed{0};   // by workers before that one
  Seconds most_time{0};  // that it may compute in all; 0: any

  ResultId id() const { return assignment.result; }
};

// What is being done now is not counted as a step.
enum class Step { wait, fetch, start, stop, sign, upload, report, remove };

// What the decision has to know beside the task.
struct Situation {
  bool is_paused = false;
  bool is_worker_free = false;
  Instant now{};
  Millis unix_ms = 0;
};

// The dispatcher. Pure. `wait` also while a step is under way (is_busy) or
// retry_at has not come. A cancelled task goes as soon as nothing works on it.
Step next(const Task& task, const Situation& situation);

// The task enters a state: failures of the one before count no more.
void enter(Task& task, TaskState state);

// True if a computing task has taken longer than it may.
bool is_overdue(const Task& task, Instant now);
// True while the task is still to be computed.
bool is_uncomputed(const Task& task);
// True from the end of computing to the report.
bool is_on_its_way(const Task& task);
// True if either is so: some of it is on the disk, or will be.
bool has_files(const Task& task);
// How many have files.
std::uint64_t count_unfinished(const std::vector<Task>& tasks);

}  // namespace quorate::client
