// What the decision about a unit has to know (server/units/decision), gathered
// from the project's memory. Used by the writer's thread only.
#pragma once

#include <optional>
#include <vector>

#include "server/state/project_state.h"
#include "server/units/decision.h"

namespace quorate {

// Of an open unit: its round has closed without it, or the model went on
// without its branch. Its results may be credited and judged.
bool is_late(const ProjectState& state, const LiveUnit& live);

// The results that may make a quorum: reported, screened and not yet judged,
// oldest first.
std::vector<Replica> replicas_of(const ProjectState& state,
                                 const LiveUnit& live);

// Where an update of the unit is far larger than those of its run that house
// workers have confirmed; nullopt: nowhere, or it cannot be said.
std::optional<UpdateBound::Excess> excess_of(const ProjectState& state,
                                             const LiveUnit& live,
                                             const Hash& update);

// `state` and `live` must outlive what is returned, whose functions look at
// them when they are called.
UnitFacts facts_of(const ProjectState& state, const LiveUnit& live);

}  // namespace quorate
