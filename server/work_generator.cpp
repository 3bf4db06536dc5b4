#include "server/work_generator.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace quorate {
namespace {

// Long enough that transfers do not matter, short enough to be given up.
constexpr double kAutoUnitSeconds = 60;
constexpr std::uint64_t kUnitsPerEpoch = 32;
// A unit of one step costs others as much in transfers as a whole one: what a
// host claims to be slower than this only makes it take longer.
constexpr double kLeastSpeed = 2e8;

std::uint32_t local_steps(const Run& run, std::uint32_t rest_of_shard,
                          std::uint64_t epoch_steps, double speed_flops) {
  if (run.local_steps != 0) return std::min(run.local_steps, rest_of_shard);
  double speed =
      speed_flops > 0 ? std::max(speed_flops, kLeastSpeed) : kUnknownSpeed;
  double step_seconds = training_operations(run.model) * run.batch / speed;
  double by_time = std::floor(kAutoUnitSeconds / step_seconds);
  auto most = static_cast<double>(std::min<std::uint64_t>(
      rest_of_shard, std::max<std::uint64_t>(1, epoch_steps / kUnitsPerEpoch)));
  return static_cast<std::uint32_t>(std::clamp(by_time, 1.0, most));
}

float learning_rate(const Run& run, std::uint64_t steps_before,
                    std::uint64_t all_steps) {
  if (run.lr_schedule == "constant") return run.optimizer.learning_rate;
  double left =
      1.0 - static_cast<double>(steps_before) / static_cast<double>(all_steps);
  return static_cast<float>(static_cast<double>(run.optimizer.learning_rate) *
                            left);
}

}  // namespace

std::uint64_t steps_per_epoch(std::span<const ShardEntry> shards,
                              std::uint32_t batch) {
  std::uint64_t steps = 0;
  for (const ShardEntry& shard : shards) steps += shard.samples / batch;
  return steps;
}

std::optional<NextUnit> next_unit(const Run& run,
                                  std::span<const ShardEntry> shards,
                                  const RunCursor& cursor, double speed_flops) {
  std::uint64_t epoch_steps = steps_per_epoch(shards, run.batch);
  if (epoch_steps == 0) return std::nullopt;
  RunCursor at = cursor;
  while (at.epoch < run.epochs) {
    Permutation order(static_cast<std::uint32_t>(shards.size()), run.seed,
                      stream_of(RandomUse::shard_order), at.epoch);
    for (; at.shard_position < shards.size();
         ++at.shard_position, at.step = 0) {
      std::uint32_t index = order(at.shard_position);
      const ShardEntry& shard = shards[index];
      std::uint32_t shard_steps = shard.samples / run.batch;
      if (at.step >= shard_steps) continue;
      NextUnit next;
      next.shard = shard.hash;
      next.range.epoch = at.epoch;
      next.range.shard_index = index;
      next.range.shard_samples = shard.samples;
      next.range.first = at.step * run.batch;
      next.range.steps =
          local_steps(run, shard_steps - at.step, epoch_steps, speed_flops);
      next.range.batch = run.batch;
      next.range.micro_batch = run.micro_batch;
      next.learning_rate =
          learning_rate(run, at.steps_before, epoch_steps * run.epochs);
      at.step += next.range.steps;
      at.steps_before += next.range.steps;
      ++at.next_unit;
      ++at.round_made;
      next.after = at;
      return next;
    }
    ++at.epoch;
    at.shard_position = 0;
  }
  return std::nullopt;
}

std::uint32_t units_of_round(const Run& run, std::size_t active_hosts) {
  if (run.round_units != 0) return run.round_units;
  auto possible = static_cast<std::uint32_t>(active_hosts / run.quorum);
  return std::max(3U, possible);
}

std::size_t most_open_units(std::size_t active_hosts) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kPerHost = 4;
  return std::max(kLeast, kPerHost * active_hosts);
}

std::uint32_t units_that_close(double share, std::uint32_t units) {
  return std::clamp(static_cast<std::uint32_t>(std::ceil(share * units - 1e-9)),
                    1U, units);
}

}  // namespace quorate
