// What the operator is told of a run beside the tables, from its row.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace quorate {

// Its settings and how far it is, a few lines. run: as `train show --json`.
std::string run_details(const nlohmann::json& run);
// A line for each of these runs that stands still, with the reason; empty if
// all is well.
std::string standstills(const nlohmann::json& runs);

}  // namespace quorate
