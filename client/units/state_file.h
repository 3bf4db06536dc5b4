// What the agent must not forget when it is killed: state.json, the tasks and
// the counters. And what only `status` reads: activity.json, standing.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "client/site/site_activity.h"
#include "client/units/task.h"
#include "protocol/native/messages.h"

namespace quorate::client {

// Since the project was attached; they only grow.
struct Counters {
  std::uint64_t reported = 0;  // answered by the project, either way
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
};

struct AgentState {
  std::vector<Task> tasks;
  Counters counters;
};

// Keeps state.json equal to what was last saved. A file is there whole or not
// at all, even after a crash; should it be damaged nevertheless, the agent
// starts afresh: the project hands out what it does not hear of again.
class StateFile {
 public:
  explicit StateFile(fs::path file) : file_(std::move(file)) {}

  // The empty state when there is no file; also for a damaged one, which is
  // moved aside to "FILE.damaged" and logged.
  AgentState load();
  // Writes if anything that is kept has changed since the last save. Throws io.
  void save(const AgentState& state);

 private:
  fs::path file_;
  std::string saved_;
};

// The text of state.json. Unsigned work is kept as `needs_files`: its objects
// and its checkpoint are found again. Throws corrupt for anything else; but a
// task that is none is left out and logged, since the others are good without
// it.
std::string write_state(const AgentState& state);
AgentState parse_state(const std::string& text);

// What the agent does now.
struct TaskActivity {
  ResultId result = 0;
  std::string state;
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
  bool is_busy = false;     // with a transfer, or its signature
  bool is_kept = false;     // no agent runs, and there is a checkpoint
  std::string device = {};  // it was asked for, or computes
};
struct Activity {
  int pid = 0;
  std::vector<std::string> devices;  // of the workers, as they say
  std::string confinement;           // alike; empty: they have not said
  std::string trouble;   // what keeps it from working as it should; empty: none
  bool is_away = false;  // the project; `trouble` says since when
  bool is_refused = false;    // by the project; `trouble` says why
  std::string no_work;        // that the project has none; empty: it has
  std::string rest = "none";  // name_of(Rest)
  std::string why;            // it rests
  std::uint32_t threads = 0;  // of each task
  std::uint32_t cpu_percent = 0;
  std::uint32_t gpu_percent = 0;
  std::uint64_t received = 0;  // bytes since the agent's start
  std::uint64_t sent = 0;
  std::vector<TaskActivity> tasks;
  std::optional<SiteActivity> site;  // of the one it belongs to
};

// What the project said last of this host's results: standing.json, which stays
// for `status` when no agent runs.
struct Standing {
  protocol::StandingReply reply;
  std::int64_t asked = 0;  // ms since 1970; 0: never
};
// Throws io.
void write_standing(const fs::path& file, const protocol::StandingReply& reply);
// With `asked` 0 when there is no readable file.
Standing read_standing(const fs::path& file);

// Replaces the file at once but without waiting for the disk: nothing depends
// on it. Throws io.
void write_activity(const fs::path& file, const Activity& activity);
// An Activity with pid 0 when there is no readable file; so it is, but with the
// tasks, when the agent has left.
Activity read_activity(const fs::path& file);

}  // namespace quorate::client
