// Where a claim about a unit leaves the path of the computation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/worker/messages.h"
#include "workunits/result_header.h"
#include "workunits/task.h"

namespace quorate::worker {

// The first of the claim's digests that is not the computed one; `digests` may
// be those of the unit's beginning only. nullopt: all so far agree.
std::optional<std::uint32_t> differing_digest(const Claim& claim,
                                              std::span<const Hash> digests);

// The same of a claim whose unit was computed to its end: the number of digests
// when they all agree, and anything else does not. nullopt: they are equal.
std::optional<std::uint32_t> difference(const Claim& claim,
                                        const Claim& computed);

// The steps that a difference at this digest may lie in.
protocol::ComputeDiffers stretch_of(std::uint32_t digest,
                                    const TrainingTask& task);

}  // namespace quorate::worker
