// Elastic averaging: p replicas are trained side by side, and a centre z, which
// is the model, is tied to each of them. When a unit of replica i is in,
//
//   x = add(x_i, delta)
//   d = mul(a, sub(x, z)),  z = add(z, d),  x_i = sub(x, d),  a = div(beta, p)
//
// and of running statistics, with u = add(W_b, delta),
//
//   z = fma(a, sub(u, z), z),  x_i = fma(a, sub(z before, u), u).
//
// A replica has one unit at a time, which starts from it; all begin as the
// model is when the rule begins. The paper's period tau is the local steps of a
// unit.
//
// easgd:   local SGD without momentum
// eamsgd:  with the run's momentum, which starts at zero in every unit
//
// sync-easgd: in rounds. Every replica is trained once from where it is, and
//         only then does the centre move, by all of them:
//
//   x = add(x_i, delta),  d = mul(a, sub(x, z)),  sum = add(sum, d),
//   x_i = sub(x, d);  with the last of the round:  z = add(z, sum),  sum = 0
//
// so a replica that is in waits for the others, and all are tied to the same z.
// Results come one by one all the same: who has arrived is in the state.
// Running statistics are tied at once.
//
// Source: Zhang, Choromanska, LeCun, "Deep learning with Elastic Averaging
// SGD", arXiv 1412.6651, algorithms 1 and 2; equations 5 and 6 (synchronous).
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// settings: "replicas", a whole number from 1 to 1024, default 8; "beta" in
// (0, 1], default 0.9.
std::unique_ptr<UpdateRule> make_easgd(const std::string& settings);
std::unique_ptr<UpdateRule> make_eamsgd(const std::string& settings);
std::unique_ptr<UpdateRule> make_sync_easgd(const std::string& settings);

}  // namespace quorate
