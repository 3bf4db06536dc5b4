// Rounds without momentum: all units of a round start from one version, and
//
//   W = add(W, mean of the deltas)
//
// sync:       units of one step, so this is a step of SGD with the batches of
//             all; the units that are not in when the round closes are the
//             backup workers'
// local-sgd:  units of any number of steps
//
// Sources: Chen et al., "Revisiting Distributed Synchronous SGD", arXiv
// 1604.00981 (backup workers: a round of N + b that closes with N); Stich,
// "Local SGD Converges Fast and Communicates Little", arXiv 1805.09767.
#pragma once

#include <memory>
#include <string>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// No settings: the run's local optimiser has the rate, --round-share says how
// many of a round must be in.
std::unique_ptr<UpdateRule> make_sync(const std::string& settings);
std::unique_ptr<UpdateRule> make_local_sgd(const std::string& settings);

}  // namespace quorate
