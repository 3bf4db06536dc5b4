// The thin part of the work generator: seals the next unit on the newest
// version and puts it with its results into the store.
#pragma once

#include "server/project_state.h"

namespace quorate {

class UnitMaker {
 public:
  explicit UnitMaker(ProjectState& state) : state_(state) {}

  // Makes the next unit of some run for a host of this speed, or returns
  // nullptr: no run is running, all samples are handed out, a round waits for
  // its results. The unit has as many unsent results as its quorum.
  LiveUnit* make(double speed_flops, bool proven);

 private:
  bool may_make(TrainingRun& training);
  LiveUnit* make_for(TrainingRun& training, double speed_flops, bool proven);

  ProjectState& state_;
};

}  // namespace quorate
