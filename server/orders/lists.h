// The lists that the operator asks for: of one run or of all, newest first.
// Used by the writer's thread only.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/project/project.h"

namespace quorate {

// The run that the arguments name; throws usage, with those that there are.
TrainingRun& run_of(Project& project, const nlohmann::json& arguments);

// arguments: run (else all), limit; rows have their run's name.
nlohmann::json list_workunits(Project& project,
                              const nlohmann::json& arguments);
// arguments: rejected as well, for those only.
nlohmann::json list_results(Project& project, const nlohmann::json& arguments);
nlohmann::json list_snapshots(Project& project,
                              const nlohmann::json& arguments);

// The rows with the largest `key`, the largest first, at most `limit`.
nlohmann::json newest(nlohmann::json rows, const std::string& key,
                      std::uint64_t limit);

}  // namespace quorate
