// Takes a data set and its shards out of a project.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/project/project.h"

namespace quorate {

// arguments: dataset, its name. Returns its name and how many shards and bytes
// were removed with it: those that no other data set has. Throws usage if there
// is none, or a run, even one that has ended, was trained on it: its ledger
// names the shards, and who replays it needs them. Throws unavailable while a
// backup is made or a data set added.
nlohmann::json remove_dataset(Project& project,
                              const nlohmann::json& arguments);

}  // namespace quorate
