// Makes a new training run from the operator's wishes.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "server/project/daemons.h"
#include "server/state/project_state.h"

namespace quorate {

// wishes: run, dataset, and optionally preset, model, rule, rule_settings (an
// object), alpha, beta, gamma (as in rule_settings), local_steps, batch,
// epochs, quorum, lr, momentum, weight_decay, lr_schedule, seed, round_units,
// round_share, assimilators, consistency, share, until (an object),
// epoch_barrier. Throws usage, naming the argument, for what cannot work. The
// first ledger entry is written; volunteers get work from the next moment on.
// local_steps may be the word "auto". id: of a run that is to have the same
// units as another; else it is drawn.
TrainingRun& create_run(ProjectState& state, Daemons& daemons,
                        const nlohmann::json& wishes,
                        const std::optional<RunId>& id = {});

}  // namespace quorate
