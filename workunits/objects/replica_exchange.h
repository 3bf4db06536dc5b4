// The step that a replica takes after a unit in gossip by pulling, as the
// server and the replica's host both take it: what the unit made of it, half of
// the way to the replica that it meets. Parameters and running statistics
// alike. Source: validator/update_rules/gossip.h.
#pragma once

#include <span>

namespace quorate {

// How far it goes to the other one.
inline constexpr float kHalfWay = 0.5F;

// replica: becomes fma(1/2, sub(met, u), u) with u = add(replica, delta).
// All have the same size.
void exchange_replica(std::span<float> replica, std::span<const float> delta,
                      std::span<const float> met);

}  // namespace quorate
