// Where the next unit of a round fits: rounds wait for their longest unit, and
// one that is cut off by its shard leaves its device idle. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/making/epoch_progress.h"

namespace quorate {

// Of the shards that the host holds, the one with the fewest steps left that
// are enough for a unit of `steps`; if all have less, the next new one. So what
// a fast device leaves of a shard is for a slower one of the same host.
// nullopt: it holds nothing that has any left, or there is no new one, and
// choose_shard() decides; so tails come to an end. A host downloads a new shard
// a little earlier for this, and another may have to download the tail when the
// epoch ends.
std::optional<std::uint32_t> fitting_shard(const EpochProgress& epoch,
                                           std::span<const std::uint32_t> held,
                                           std::uint32_t steps);

}  // namespace quorate
