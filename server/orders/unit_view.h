// Everything about one workunit, for people who ask how it was judged and why:
// its task, its results with what each host signed, where claims that differ
// part, who vouched, the ledger entry, and what happens next. Used by the
// writer's thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/state/project_state.h"

namespace quorate {

// The unit as the server has it in memory, or has stored it; without a task if
// that is damaged.
LiveUnit unit_at_hand(ProjectState& state, const Workunit& unit);

// arguments: "workunit" (id), or "result" (id of one of its results). Throws
// usage, saying what is known, if there is none.
nlohmann::json show_workunit(ProjectState& state,
                             const nlohmann::json& arguments);

}  // namespace quorate
