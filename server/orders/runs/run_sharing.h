// How a run stands beside others, and when it ends: the settings that neither
// its model nor its ledger knows.
#pragma once

#include "server/orders/runs/run_arguments.h"
#include "server/state/project_state.h"

namespace quorate {

// Takes --share, --until and --epoch-barrier, where they are given. Throws
// usage for what cannot be, as an accuracy that nobody evaluates.
void set_sharing(const RunArguments& arguments, const ProjectState& state,
                 Run& run);
// Whether the arguments are of these alone, and the run's name.
bool is_of_sharing_alone(const RunArguments& arguments);

// "share 2, until accuracy=0.9": for the events.
std::string sharing_text(const Run& run);

}  // namespace quorate
