// Local training with an outer Nesterov step, in rounds: all units of a round
// start from one version; when enough are validated, with their n updates in
// order of unit index,
//
//   D = mean of the deltas       (ChainSum, then times div(1, n))
//   m = fma(beta, m, D)
//   W = fma(gamma, fma(beta, m, D), W)
//
// and of running statistics, which momentum could make negative,
//
//   W = mean of add(W, delta)   (the same way)
//
// Source: Douillard et al., "DiLoCo", arXiv 2311.08105 (there with the opposite
// sign of delta). That a round closes before all of its units are in is ours:
// docs/update-rules.md.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "gamma" in (0, 1], default 0.7; "beta" in [0, 1), default 0.9.
std::unique_ptr<UpdateRule> make_diloco(const std::string& settings);

}  // namespace quorate
