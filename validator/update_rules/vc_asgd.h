// The rule of the volunteer computing paper, one result at a time:
//
//   W <- alpha W + (1 - alpha) W_c,    W_c = W_b + delta
//
// as  W = fma(1 - alpha, sub(add(W_b, delta), W), W).
// alpha is a constant (default 0.7) or, "var", e / (e + 1) in epoch
// e = 1, 2, ...
// Source: Atre, Jha, Rao, "Distributed Deep Learning Using Volunteer
// Computing-Like Paradigm", ScaDL 2021, arXiv 2103.08894.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "alpha", a number in [0, 1) or "var".
std::unique_ptr<UpdateRule> make_vc_asgd(const std::string& settings);

}  // namespace quorate
