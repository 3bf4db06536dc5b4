// Removes snapshots that nothing needs any more: each version that was a base
// has one, and the ledger names only the published ones.
#pragma once

#include <optional>
#include <vector>

#include "server/project_state.h"

namespace quorate {

// Snapshots of `training` to remove now that its newest version is published:
// its own ones that are base of no live unit. A restart rebuilds the model from
// the published version and needs, beside it, only the bases of units that are
// live now. Forgets them in `training`. What was written before the server's
// last start stays.
std::vector<Hash> take_old_snapshots(const ProjectState& state,
                                     TrainingRun& training);

// To be held from the choice of objects until they are removed. nullopt: not
// now, a backup is copying them (server/backup).
std::optional<FileLock> right_to_remove(const ProjectFolder& folder);

}  // namespace quorate
