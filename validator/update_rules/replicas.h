// Models that are trained side by side and kept in a rule's state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// Of all replicas; each begins as the model.
std::vector<StateBuffer> replica_buffers(std::string_view rule,
                                         std::uint32_t replicas);

// All of one replica.
float* replica(std::string_view rule, RuleState& state, std::uint32_t number);
// The one that the result trained. Throws corrupt if the coefficients do not
// say which.
float* trained_replica(std::string_view rule, RuleState& state,
                       const Coefficients& coefficients);

}  // namespace quorate
