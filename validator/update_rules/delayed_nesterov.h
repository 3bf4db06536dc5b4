// An outer Nesterov step for results that come one by one: the momentum waits
// until `delay` results are in, so that one stale result does not turn it.
//
//   d = mul(1 / delay, delta),  buffer = fma(1 / delay, delta, buffer)
//   with every delay-th result
//     m = fma(beta, m, buffer),  buffer = 0,  b = (1 - c delay + c) beta
//   with the others
//     b = c beta
//   W = fma(gamma, fma(b, m, d), W)
//
// Versions are counted in results; the momentum comes with the result that
// makes the version a multiple of `delay`. A result counts less than 1 / delay
// if the bound of stale steps (one_by_one.h) wants it.
// Source: Liu et al., "Asynchronous Local-SGD Training for Language Modeling",
// arXiv 2401.09135, algorithm 3 (there with the opposite sign of delta). Units
// sized by speed, the paper's other half, are server/making/work_generator's.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "gamma" in (0, 1], default 0.4; "beta" in [0, 1), default 0.9;
// "delay", a whole number from 1 to 1000, default 10; "c" in [0, 1 / delay],
// default 0.
std::unique_ptr<UpdateRule> make_delayed_nesterov(const std::string& settings);

}  // namespace quorate
