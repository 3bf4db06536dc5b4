// Results are added up as they come, whatever version they started from; every
// `buffer` of them make one step:
//
//   sum = fma(share, delta, sum),  share = 1 / sqrt(1 + s)
//   and with every buffer-th result
//   W = fma(div(rate, buffer), sum, W),  sum = 0
//
// s counts such steps since the unit's base. Versions are counted in results,
// so W and its average stay as they are in between; the step comes with the
// result that makes the version a multiple of `buffer`. The share is less if
// the bound of stale steps (one_by_one.h) wants it.
// Source: Nguyen et al., "Federated Learning with Buffered Asynchronous
// Aggregation", arXiv 2106.06639, algorithm 1 and section 4.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "buffer", a whole number from 1 to 1000, default 10; "rate" in
// (0, 1.5], default 1.
std::unique_ptr<UpdateRule> make_fedbuff(const std::string& settings);

}  // namespace quorate
