// The lists that the operator asks for, newest first.
// Used by the writer's thread only.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/project/project.h"

namespace quorate {

// The run that the arguments name; throws usage, with those that there are.
TrainingRun& run_of(ProjectState& state, const nlohmann::json& arguments);
TrainingRun& run_of(Project& project, const nlohmann::json& arguments);

// {"rows": at most `limit` of those that match, "total": how many match}.
// arguments: limit, and filters (server/orders/row_filters). Rows have their
// run's name; results that were reported, their device.
nlohmann::json list_workunits(ProjectState& state,
                              const nlohmann::json& arguments);
nlohmann::json list_results(ProjectState& state,
                            const nlohmann::json& arguments);
// arguments: run (else all), limit.
nlohmann::json list_snapshots(Project& project,
                              const nlohmann::json& arguments);

// The rows with the largest `key`, the largest first, at most `limit`.
nlohmann::json newest(nlohmann::json rows, const std::string& key,
                      std::uint64_t limit);

}  // namespace quorate
