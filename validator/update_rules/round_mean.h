// The mean of a round's updates, as every rule in rounds takes it: the sum in
// order of unit index, chains of 64 from +0 and then pairs (ChainSum), times
// div(1, n).
#pragma once

#include <functional>
#include <span>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// Calls `step` for consecutive parts of `range`, with the means of the deltas'
// elements part.first + i at mean[i]. contributions: at least one.
void for_means(
    std::span<const Contribution> contributions, ParameterRange range,
    const std::function<void(ParameterRange part, const float* mean)>& step);

// W = mean of the add(W, delta), which is never negative if no volunteer's
// value is.
void take_mean_of_statistics(ParameterRange range, std::span<float> parameters,
                             std::span<const Contribution> contributions);

}  // namespace quorate
