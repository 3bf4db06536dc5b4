// The model moves towards what a volunteer found, the less the later it comes:
//
//   W <- (1 - a) W + a W_c,    W_c = W_b + delta,    a = alpha q(s)
//
// as  W = fma(a, sub(add(W_b, delta), W), W),  with, for staleness s,
//
//   constant:    q(s) = 1
//   polynomial:  q(s) = (s + 1)^-a
//   hinge:       q(s) = 1 if s <= b, else 1 / (a (s - b) + 1)
//
// The paper's proximal term in the local training is not done: units train as
// those of every other rule.
// Source: Xie, Koyejo, Gupta, "Asynchronous Federated Optimization",
// arXiv 1903.03934, algorithm 1 and section 5.2.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "alpha" in (0, 1], default 0.6; "weighting": "constant",
// "polynomial" (the default) or "hinge"; "a" in (0, 100], default 0.5, of the
// hinge 10; "b" in [0, 1000], default 4, of the hinge only.
std::unique_ptr<UpdateRule> make_fedasync(const std::string& settings);

}  // namespace quorate
