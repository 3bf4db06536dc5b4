// The thin part of the work generator: seals the next unit on the newest
// version and puts it with its results into the store.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "server/making/usual_speed.h"
#include "server/making/work_generator.h"
#include "server/sending/run_turns.h"
#include "server/state/project_state.h"

namespace quorate {

// A host that asks for work.
struct UnitWish {
  HostId host = 0;
  double speed_flops = 0;  // of its device; 0: unknown
  bool is_proven = false;
  std::span<const Hash> shards{};  // that it says it has
};

// Which runs are asked for work.
enum class Turn {
  shared,  // those that have a share of hosts' time
  spare,   // those of share 0: when none of the others has any
};
// Whose turn may the run's be?
inline Turn turn_of(const Run& run) {
  return run.share > 0 ? Turn::shared : Turn::spare;
}

class UnitMaker {
 public:
  explicit UnitMaker(ProjectState& state) : state_(state) {}

  // Makes the next unit of the run whose turn it is (server/sending/run_turns)
  // for a host, or returns nullptr: no run is running, all samples are handed
  // out, a round waits for its results. The unit has as many unsent results as
  // its quorum. Whoever asks for spare work asks for shared before.
  LiveUnit* make(const UnitWish& wish, Turn turn);

  // A result of the unit went to this host, whose device will compute for so
  // long: counts it against the run's share and among what it has used.
  void note_sent(const Workunit& unit, HostId host, const std::string& device,
                 double host_seconds);

 private:
  // Those that have a unit for a host, whichever it is.
  std::vector<RunTurn> with_work(Turn turn) const;
  bool has_work(const TrainingRun& training) const;
  // The run whose files the host has; of several, that of the last unit.
  std::optional<RunKey> home_of(const UnitWish& wish,
                                const std::vector<RunTurn>& runs) const;
  // Hosts at work that the run's share stands for.
  std::size_t hosts_of(const TrainingRun& training) const;
  Pace pace_of(const TrainingRun& training, const UnitWish& wish) const;
  // Fixes how many units the run's next round has.
  void begin_round(TrainingRun& training) const;
  // Takes the next range of a shard, seals the task, and moves the run's
  // cursor, all in the job's transaction.
  LiveUnit* make_for(TrainingRun& training, const UnitWish& wish);
  std::vector<bool> busy_replicas(const TrainingRun& training) const;
  std::optional<std::uint32_t> replica_for_host(const TrainingRun& training,
                                                HostId host) const;
  std::uint32_t take_shard(TrainingRun& training, const UnitWish& wish);
  std::vector<std::uint32_t> held_by(const UnitWish& wish,
                                     const TrainingRun& training) const;

  ProjectState& state_;
  ProjectState::HostCounts hosts_;  // when a unit was last asked for
  UsualSpeed usual_speed_;
  RunTurns shared_;
  RunTurns spare_;
  // In memory only: after a restart, the shards that a host names say it.
  std::unordered_map<HostId, RunKey> last_run_;
};

}  // namespace quorate
