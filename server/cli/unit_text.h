// What `workunit show` tells people, from the order's answer.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace quorate {

// unit: as `workunit show --json`.
std::string unit_text(const nlohmann::json& unit);

// "one_minus_c 0.1, weight 0.5": a rule's coefficients by name; "-" if there
// are none.
std::string coefficients_text(const nlohmann::json& coefficients);

}  // namespace quorate
