// Which samples come next: from a run's cursor and a shard to the next unit.
// Pure; the thin part that seals and stores is server/unit_maker.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "server/datasets/manifest.h"
#include "workunits/workunit.h"

namespace quorate {

// Operations a second that a device is taken for until it says more: one slow
// core.
inline constexpr double kUnknownSpeed = 5e9;

// Whole minibatches of each shard; what is left of a shard is left out.
std::vector<std::uint32_t> steps_of_shards(std::span<const ShardEntry> shards,
                                           std::uint32_t batch);
// The same in all.
std::uint64_t steps_per_epoch(std::span<const ShardEntry> shards,
                              std::uint32_t batch);

// What is left of a shard in the epoch under way: at least one step.
struct ShardRest {
  std::uint32_t index = 0;
  std::uint32_t samples = 0;  // of all of it
  std::uint32_t first_step = 0;
};

struct NextUnit {
  SampleRange range;
  float learning_rate = 0.0F;
  RunCursor after;  // the cursor once this unit is made
};

// The next unit of `run` from a shard: see server/locality for which.
// speed_flops: of the asking host's device, used when run.local_steps is 0:
// then a unit is the least of 60 s of that device (of one of 0.2 Gflop/s, if it
// is slower), the rest of the shard and 1/32 of an epoch. The learning rate
// falls linearly with the steps handed out before, whatever shard they were of
// ("linear"), or stays ("constant"). epoch_steps: of all shards.
NextUnit next_unit(const Run& run, const RunCursor& cursor,
                   const ShardRest& shard, std::uint64_t epoch_steps,
                   double speed_flops);

// Units of a run that may be open at the same time: enough for hosts that queue
// ahead, and few enough that nobody can have a run handed out on one version by
// taking units and failing at them.
std::size_t most_open_units(std::size_t active_hosts);

// Which replica a unit with this index trains: the first that is not busy, from
// unit_index modulo their number on, so that all have their turn; nullopt if
// all are busy.
std::optional<std::uint32_t> next_replica(const std::vector<bool>& is_busy,
                                          std::uint64_t unit_index);

// How many units the next round has: run.round_units, else
// max(3, active hosts / replicas of a unit).
std::uint32_t units_of_round(const Run& run, std::size_t active_hosts);
// Validated units that close a round of `units`: ceil(share * units).
std::uint32_t units_that_close(double share, std::uint32_t units);

}  // namespace quorate
