// A unit in the middle of its steps as a file, so that a host can stop and go
// on later. The claim is the same, bit for bit, as without the stop.
#pragma once

#include <optional>

#include "base/crypto.h"
#include "base/file.h"
#include "workunits/training/trainer.h"

namespace quorate {

// Writes the file durably, in the place of an older one. workunit: hash of the
// sealed unit. Throws io.
void save_checkpoint(const fs::path& path, const Hash& workunit,
                     const TrainerState& state);

// nullopt if there is no such file. Throws corrupt if it is cut short, changed,
// or of another unit: then remove it and begin the unit anew. Throws io.
std::optional<TrainerState> load_checkpoint(const fs::path& path,
                                            const Hash& workunit,
                                            const TrainingTask& task);

}  // namespace quorate
