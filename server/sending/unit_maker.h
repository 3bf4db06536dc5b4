// The thin part of the work generator: seals the next unit on the newest
// version and puts it with its results into the store.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "server/making/usual_speed.h"
#include "server/making/work_generator.h"
#include "server/state/project_state.h"

namespace quorate {

// A host that asks for work.
struct UnitWish {
  HostId host = 0;
  double speed_flops = 0;  // of its device; 0: unknown
  bool is_proven = false;
  std::span<const Hash> shards{};  // that it says it has
};

class UnitMaker {
 public:
  explicit UnitMaker(ProjectState& state) : state_(state) {}

  // Makes the next unit of some run for a host, or returns nullptr: no run is
  // running, all samples are handed out, a round waits for its results. The
  // unit has as many unsent results as its quorum.
  LiveUnit* make(const UnitWish& wish);

 private:
  Pace pace_of(const TrainingRun& training, const UnitWish& wish) const;
  // Also fixes how many units the run's next round has, when it begins.
  bool may_make(TrainingRun& training);
  // Takes the next range of a shard, seals the task, and moves the run's
  // cursor, all in the job's transaction.
  LiveUnit* make_for(TrainingRun& training, const UnitWish& wish);
  std::optional<std::uint32_t> free_replica(const TrainingRun& training) const;
  std::uint32_t take_shard(TrainingRun& training, const UnitWish& wish);
  std::vector<std::uint32_t> held_by(const UnitWish& wish,
                                     const TrainingRun& training) const;

  ProjectState& state_;
  ProjectState::HostCounts hosts_;  // when a unit was last asked for
  UsualSpeed usual_speed_;
};

}  // namespace quorate
