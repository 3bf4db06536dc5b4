// What the project puts under its seal about one host, for the volunteer to
// keep. Used by the writer's thread only.
#pragma once

#include <string>
#include <vector>

#include "server/state/project_state.h"
#include "workunits/receipt.h"

namespace quorate {

// The host's share in a run as a receipt has it.
ReceiptRun receipt_run(const HostShare& share, const TrainingRun& training);

// The host is known. Runs of which it has no result in the model (any more) are
// not in it.
Receipt receipt_of(ProjectState& state, HostId host);

}  // namespace quorate
