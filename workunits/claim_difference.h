// Where two claims about one unit part: the first state digest that differs,
// and the steps before it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "workunits/result_header.h"
#include "workunits/task.h"

namespace quorate {

// The first of the claim's digests that is not the computed one; `digests` may
// be those of the unit's beginning only. nullopt: all so far agree.
std::optional<std::uint32_t> differing_digest(const Claim& claim,
                                              std::span<const Hash> digests);

// The same of a claim whose unit was computed to its end: the number of digests
// when they all agree, and anything else does not. nullopt: they are equal.
std::optional<std::uint32_t> difference(const Claim& claim,
                                        const Claim& computed);

// Steps of a unit, from 1, in one of which a claim left the other's path.
struct Stretch {
  std::uint32_t first_step = 0;
  std::uint32_t last_step = 0;
};
// "in step 2", "from a step between 1 and 5 on".
std::string text_of(const Stretch& stretch);
// Those that a difference at this digest may lie in.
Stretch stretch_of(std::uint32_t digest, const TrainingTask& task);

}  // namespace quorate
