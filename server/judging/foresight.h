// What would happen next with a unit, for people: the decision about it
// (server/units/decision) on the facts of this moment, with nothing done and
// nothing drawn. Used by the writer's thread only.
#pragma once

#include <string>

#include "server/state/project_state.h"
#include "server/units/decision.h"

namespace quorate {

struct Foresight {
  UnitDecision decision;
  // The draw of spot checks may put a check before the verdict
  // (trust_spot_check).
  bool may_be_checked = false;
};

Foresight foresee(const ProjectState& state, const LiveUnit& live);

// The same in a sentence or two, with the reason.
std::string sentence_of(const Foresight& foresight, const LiveUnit& live);

}  // namespace quorate
