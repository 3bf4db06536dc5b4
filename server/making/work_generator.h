// Which samples come next: from a run's cursor and a shard to the next unit.
// Pure; the thin part that seals and stores is server/sending/unit_maker.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "server/datasets/manifest.h"
#include "workunits/codec.h"
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

// What the length of a unit goes by, if the run leaves it open.
struct Pace {
  double speed_flops = 0;    // of the asking host's device; 0: unknown
  double usual_flops = 0;    // of devices that ask; 0: unknown
  double fastest_flops = 0;  // of them; 0: unknown
  std::size_t hosts = 1;     // that are at work
  // Of work, for which it is worth to ask and to report.
  double least_seconds = 2;
  bool in_rounds = false;         // units of a round wait for each other
  Codec snapshots = Codec::fp32;  // what hosts of the last round fetch
};

struct NextUnit {
  SampleRange range;
  float learning_rate = 0.0F;
  RunCursor after;  // the cursor once this unit is made
};

// Local steps of a unit of a usual device in a round of so many hosts, where
// links and the server allow it: few, so that rounds are short and many. More
// hosts average more noise away, and a round then has the samples of more of
// them. docs/study.md has the measurements.
std::uint32_t steps_for_hosts(std::size_t hosts);

// The next unit of `run` from a shard: see server/making/locality for which. If
// run.local_steps is 0, we choose its steps. Outside rounds it has the least of
// 60 s of that device (of one of 0.2 Gflop/s, if it is slower), 1/32 of an
// epoch and the rest of the shard.
//
// In rounds all wait for the last unit, so what a device gets of a round's
// samples follows its measured speed. The usual device has the least of
// steps_for_hosts() (or what takes it least_seconds, or as long as the model
// and the update on a link of 50 and 10 Mbit/s, if that is more) and 1/32 of an
// epoch; the asking one as many times that as it is faster. If the unit of the
// fastest device would be longer than a shard, all are shorter: a unit that the
// shard cuts off leaves its device idle. Less than a quarter of a unit is not
// left over of a shard, either.
//
// A host's word makes its unit 1/8 to 8 times the usual one, so no more than
// 1/4 of an epoch, and still no more than 60 s of the device that it claims to
// have. A host that is slower than it says is late by that factor; the round
// closes without it (units_that_close) or its lease ends. One that claims the
// most makes units of others shorter, never longer, by 8 at the most, and only
// where they are bounded by the shard. The bound on the usual unit is the epoch
// and not the speed: 1/32 on each device, as it was, gave all devices equal
// units in data sets of a few hundred steps. The quorum of a unit computes the
// very same steps, whatever its other hosts' speeds.
//
// The learning rate falls linearly with the steps handed out before, whatever
// shard they were of ("linear"), or stays ("constant"). epoch_steps: of all
// shards.
NextUnit next_unit(const Run& run, const RunCursor& cursor,
                   const ShardRest& shard, std::uint64_t epoch_steps,
                   const Pace& pace);

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
// max(3, hosts at work / replicas of a unit): a lone host may have workers.
std::uint32_t units_of_round(const Run& run, std::size_t hosts);
// Validated units that close a round of `units`: ceil(share * units).
std::uint32_t units_that_close(double share, std::uint32_t units);

}  // namespace quorate
