// Which validated units are ready for a run's model, in the order in which the
// assimilator takes them. Pure looks at the project's memory; used by the
// writer's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/state/project_state.h"

namespace quorate {

// How far the open round of a run in rounds is.
struct RoundStanding {
  std::size_t validated = 0;  // units
  std::uint32_t enough = 0;   // so many close it
  bool is_complete = false;
};
RoundStanding round_standing(const ProjectState& state,
                             const TrainingRun& training);

// Where assimilation by hand stops; what is not set does not limit it.
struct PassLimit {
  std::optional<std::uint64_t> version{};  // once the model has reached it
  std::optional<WorkunitId> unit{};        // once this one is taken

  bool is_set() const { return version || unit; }
};

struct ReadyUnits {
  std::vector<WorkunitId> units;
  bool closes_round = false;  // rules in rounds: all of `units`, perhaps none
};
// Rules one by one: in order of id, as far as the limit allows. Rules in
// rounds: a complete round, by unit index, or nothing. A round is taken whole:
// it makes one version.
ReadyUnits ready_units(const ProjectState& state, const TrainingRun& training,
                       const PassLimit& limit = {});

// Why nothing of the run is taken now, for people; empty if something is.
std::string why_nothing_is_ready(const ProjectState& state,
                                 const TrainingRun& training);

}  // namespace quorate
