// Pauses a run, and lets it go on.
#pragma once

#include "server/project/daemons.h"
#include "server/state/project_state.h"

namespace quorate {

// By the operator. Throws usage if it is not in that state.
void move_run(ProjectState& state, Daemons& daemons, TrainingRun& training,
              RunState from, RunState to);

}  // namespace quorate
