// Why nothing happens in a run that goes on: for its operator.
#pragma once

#include <cstdint>
#include <string>

#include "server/state/project_state.h"

namespace quorate {

struct WaitingRun {
  bool is_served = true;  // by a server that runs
  bool has_house_worker = true;
  bool gives_way = false;  // its share is 0, and other runs take every host
  std::uint32_t quorum = 0;
  std::size_t users = 0;  // who have an active host
  std::size_t stuck = 0;  // unsent results that none of them may compute
  // Some of those could, were one of their hosts proven.
  bool wants_anchor = false;
  // No more units are made before some are closed, and this many wait for a
  // house worker.
  std::size_t for_house = 0;
};

// Of a run that is running. Used by the writer's thread only.
WaitingRun waiting_run(const ProjectState& state, const TrainingRun& training);

// One line without its end, or empty if the run needs nobody.
std::string why_it_waits(const WaitingRun& run);

}  // namespace quorate
