// Rules that follow a volunteer's step from where the model is now:
//
//   W <- W + rate' delta      as  W = fma(rate', delta, W)
//
// delta-asgd:  rate' = rate / (s + 1)^power of a result of staleness s
// downpour:    rate' = rate
//
// and never more than the bound of stale steps allows (one_by_one.h).
// Sources: Dean et al., "Large Scale Distributed Deep Networks", NeurIPS 2012
// (Downpour: a worker pushes what it accumulated, the server adds it); the
// weight by staleness as in Zhang et al., "Staleness-aware Async-SGD",
// arXiv 1511.05950, who have power 1.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "rate" in (0, 1.5], default 1.2; "power" in [0, 4], default 1.
std::unique_ptr<UpdateRule> make_delta_asgd(const std::string& settings);
// settings: "rate" in (0, 1.5], default 1.
std::unique_ptr<UpdateRule> make_downpour(const std::string& settings);

}  // namespace quorate
