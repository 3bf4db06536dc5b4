// Gossip: p replicas are trained side by side; after each unit, its replica i
// meets another one, j, drawn by the run's seed and the version:
//
//   u = fma(step, delta, x_i)
//   pull:      x_i = fma(1/2, sub(x_j, u), u)
//   push:      x_j = fma(1/2, sub(u, x_j), x_j),  x_i = u
//   push-sum:  x_j = fma(t, sub(u, x_j), x_j),  x_i = u,
//              t = (w_i / 2) / (w_j + w_i / 2);  then w_j += w_i / 2, w_i /= 2
//
// step is 1, with push-sum min(1 / w_i, 1.5). Push-sum keeps the replicas'
// mean, weighted by w, the same over exchanges, which the other two move at
// random; x here is the paper's z, its x is w x. The model is that mean:
//
//   pull, push:  W = fma(1 / p, sum of the two replicas' changes, W)
//   push-sum:    W = fma(step w_i / p, delta, W)
//
// A replica has one unit at a time, which starts from it; all begin as the
// model is when the rule begins, with w = 1. The period tau of the papers is
// the local steps of a unit. Of running statistics u = add(W_b, delta), and the
// model has the replicas' mean, weighted equally.
//
// Sources: Jin et al., "How to scale distributed deep learning?", arXiv
// 1611.04581 (pull, push); Assran et al., "Stochastic Gradient Push", arXiv
// 1811.10792. That a step is at most 1.5 is ours: a replica that sends often
// and receives seldom has a small w.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// Among hosts, a site's machines take the steps of their replicas themselves
// and fetch the other one from each other; the server takes them as well, and
// its bits are the same.
//
// settings: "replicas", a whole number from 2 to 1024, default 8; "exchange":
// "pull" (the default), "push" or "push-sum"; "among": "server" (the default)
// or "hosts"; "partners": "any" of the others (the default) or "adaptive": one
// is the likelier the farther it is (mean square over some parameters) and the
// more units it had of late.
std::unique_ptr<UpdateRule> make_gossip(const std::string& settings);

}  // namespace quorate
