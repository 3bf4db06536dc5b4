// Gives a run another update rule, or other settings of its units.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/project/daemons.h"
#include "server/state/project_state.h"

namespace quorate {

// wishes: optionally rule, rule_settings, alpha, beta, gamma, round_units,
// round_share, assimilators, consistency, local_steps, lr, codec, share, until,
// epoch_barrier. Without a rule in them the run keeps its own, with its
// settings unless there are others. Holds from the next unit on; the model goes
// on from where it is, a new rule's own state begins anew. Units under way that
// the new rule cannot take are cancelled. With the last three alone the model
// and units under way are left as they are. Throws usage, naming the argument,
// for what cannot work; the run is unchanged then.
void change_run(ProjectState& state, Daemons& daemons, TrainingRun& training,
                const nlohmann::json& wishes);

}  // namespace quorate
