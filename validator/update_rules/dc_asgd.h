// A late gradient corrected by what the model did since: the change of the
// gradient from W_b to W is taken as lambda g (.) g (.) (W - W_b), with the
// square of the gradient in place of the Hessian,
//
//   W <- W - e (g + lambda' g (.) g (.) (W - W_b)).
//
// A unit of H steps of rate l has g = -delta r, r = 1 / (H l), so that with
// e = rate' / r
//
//   q = mul(mul(delta, delta), sub(W, W_b))
//   W = fma(rate', fma(-mul(lambda', r), q, delta), W)
//
// dc-asgd:           lambda' = lambda
// dc-asgd-adaptive:  g = mul(delta, r)
//                    v = fma(decay, v, mul(1 - decay, mul(g, g)))
//                    lambda' = lambda / sqrt(v + 1e-7), element by element, as
//                    div(mul(lambda, r), sqrt(add(v, 1e-7))) for mul(lambda',
//                    r)
//
// rate' = rate / (s + 1) of a result of staleness s, within the bound of stale
// steps (one_by_one.h); the paper, with one step a unit, has rate' = H l.
// Source: Zheng et al., "Asynchronous Stochastic Gradient Descent with Delay
// Compensation", arXiv 1609.08326, equations 10 and 14; units of more than one
// step are ours.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings of both: "rate" in (0, 1.5], default 1.2; "lambda" in [0, 2],
// default 0.5.
std::unique_ptr<UpdateRule> make_dc_asgd(const std::string& settings);
// Also "decay" in [0, 1), default 0.95.
std::unique_ptr<UpdateRule> make_dc_asgd_adaptive(const std::string& settings);

}  // namespace quorate
