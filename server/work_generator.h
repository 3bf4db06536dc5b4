// Which samples come next: from a run's cursor to the next unit. Pure; the
// thin part that seals and stores is server/unit_maker.
#pragma once

#include <optional>
#include <span>

#include "server/datasets/manifest.h"
#include "workunits/workunit.h"

namespace quorate {

// Operations a second that a device is taken for until it says more: one slow
// core.
inline constexpr double kUnknownSpeed = 5e9;

// Whole minibatches in one epoch; what is left of a shard is left out.
std::uint64_t steps_per_epoch(std::span<const ShardEntry> shards,
                              std::uint32_t batch);

struct NextUnit {
  SampleRange range;
  Hash shard;
  float learning_rate = 0.0F;
  RunCursor after;  // the cursor once this unit is made
};

// The next unit of `run`, or nullopt when all epochs are handed out.
// speed_flops: of the asking host's device, used when run.local_steps is 0:
// then a unit is the least of 60 s of that device (of one of 0.2 Gflop/s, if it
// is slower), the rest of the shard and 1/32 of an epoch. The order of shards
// is the epoch's permutation under the run's seed. The learning rate falls
// linearly with the steps handed out before ("linear") or stays ("constant").
std::optional<NextUnit> next_unit(const Run& run,
                                  std::span<const ShardEntry> shards,
                                  const RunCursor& cursor, double speed_flops);

// Units of a run that may be open at the same time: enough for hosts that queue
// ahead, and few enough that nobody can have a run handed out on one version by
// taking units and failing at them.
std::size_t most_open_units(std::size_t active_hosts);

// How many units the next round has: run.round_units, else
// max(3, active hosts / replicas of a unit).
std::uint32_t units_of_round(const Run& run, std::size_t active_hosts);
// Validated units that close a round of `units`: ceil(share * units).
std::uint32_t units_that_close(double share, std::uint32_t units);

}  // namespace quorate
