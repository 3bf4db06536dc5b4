#include "server/making/work_generator.h"

#include <algorithm>
#include <cmath>

#include "workunits/codec.h"

namespace quorate {
namespace {

// Long enough that transfers do not matter, short enough to be given up.
constexpr double kAutoUnitSeconds = 60;
constexpr std::uint64_t kUnitsPerEpoch = 32;
// A unit of one step costs others as much in transfers as a whole one: what a
// host claims to be slower than this only makes it take longer.
constexpr double kLeastSpeed = 2e8;
// By how much a unit of a round is longer or shorter than the usual one. More
// steps go further astray, and a host that claims more is waited for longer.
constexpr double kMostBalance = 8;
// Bytes a second of a volunteer's link.
constexpr double kDown = 50e6 / 8;
constexpr double kUp = 10e6 / 8;

double speed_of(double flops) {
  return flops > 0 ? std::max(flops, kLeastSpeed) : kUnknownSpeed;
}

double bytes_by(Codec codec, std::size_t values) {
  return static_cast<double>(codec == Codec::fp32 ? values * sizeof(float)
                                                  : code_bytes(codec, values));
}

double transfer_seconds(const Run& run, Codec snapshots) {
  const std::size_t values = parameter_count(run.model);
  return bytes_by(snapshots, values) / kDown +
         bytes_by(run.codec, values) / kUp;
}

// Steps of a unit by its speed; kept as a fraction until the end, so that
// devices whose units have few steps end together, too.
// shard_steps: of all of it.
double balanced_steps(const Run& run, double step_operations,
                      std::uint32_t shard_steps, std::uint64_t epoch_steps,
                      const Pace& pace) {
  const double usual = pace.usual_flops > 0 ? pace.usual_flops : kUnknownSpeed;
  const auto times_as_fast = [&](double speed) {
    return std::clamp((speed > 0 ? speed : usual) / usual, 1 / kMostBalance,
                      kMostBalance);
  };
  const double seconds =
      std::max(pace.least_seconds, transfer_seconds(run, pace.snapshots));
  double steps = std::max<double>(steps_for_hosts(pace.hosts),
                                  seconds * usual / step_operations);
  steps = std::min(steps, static_cast<double>(epoch_steps) / kUnitsPerEpoch);
  const double fastest =
      times_as_fast(std::max({pace.fastest_flops, pace.speed_flops, usual}));
  steps = std::min(steps, shard_steps / fastest);
  return std::round(steps * times_as_fast(pace.speed_flops));
}

// What the shard has left, if less than a quarter of a unit would be over.
double without_tail(double steps, double rest) {
  return rest < 1.25 * steps ? rest : steps;
}

std::uint32_t local_steps(const Run& run, const ShardRest& shard,
                          std::uint64_t epoch_steps, const Pace& pace) {
  const std::uint32_t shard_steps = shard.samples / run.batch;
  const std::uint32_t rest = shard_steps - shard.first_step;
  if (run.local_steps != 0) return std::min(run.local_steps, rest);
  const double step = training_operations(run.model) * run.batch;
  double steps =
      std::floor(kAutoUnitSeconds * speed_of(pace.speed_flops) / step);
  if (pace.in_rounds) {
    steps = without_tail(std::min(steps, balanced_steps(run, step, shard_steps,
                                                        epoch_steps, pace)),
                         rest);
  } else {
    steps = std::min(steps, static_cast<double>(std::max<std::uint64_t>(
                                1, epoch_steps / kUnitsPerEpoch)));
  }
  return static_cast<std::uint32_t>(
      std::clamp<double>(steps, 1, static_cast<double>(rest)));
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

std::vector<std::uint32_t> steps_of_shards(std::span<const ShardEntry> shards,
                                           std::uint32_t batch) {
  std::vector<std::uint32_t> steps;
  steps.reserve(shards.size());
  for (const ShardEntry& shard : shards) steps.push_back(shard.samples / batch);
  return steps;
}

std::uint64_t steps_per_epoch(std::span<const ShardEntry> shards,
                              std::uint32_t batch) {
  std::uint64_t steps = 0;
  for (const ShardEntry& shard : shards) steps += shard.samples / batch;
  return steps;
}

std::uint32_t steps_for_hosts(std::size_t hosts) {
  constexpr std::size_t kMany = 32;
  return hosts < kMany ? 5 : 2;
}

NextUnit next_unit(const Run& run, const RunCursor& cursor,
                   const ShardRest& shard, std::uint64_t epoch_steps,
                   const Pace& pace) {
  NextUnit next;
  next.range.epoch = cursor.epoch;
  next.range.shard_index = shard.index;
  next.range.shard_samples = shard.samples;
  next.range.first = shard.first_step * run.batch;
  next.range.steps = local_steps(run, shard, epoch_steps, pace);
  next.range.batch = run.batch;
  next.range.micro_batch = run.micro_batch;
  next.learning_rate =
      learning_rate(run, cursor.steps_before, epoch_steps * run.epochs);
  next.after = cursor;
  next.after.steps_before += next.range.steps;
  ++next.after.next_unit;
  ++next.after.round_made;
  return next;
}

std::optional<std::uint32_t> next_replica(const std::vector<bool>& is_busy,
                                          std::uint64_t unit_index) {
  for (std::size_t i = 0; i < is_busy.size(); ++i) {
    const std::size_t replica = (unit_index + i) % is_busy.size();
    if (!is_busy[replica]) return static_cast<std::uint32_t>(replica);
  }
  return std::nullopt;
}

std::uint32_t units_of_round(const Run& run, std::size_t hosts) {
  if (run.round_units != 0) return run.round_units;
  auto possible = static_cast<std::uint32_t>(hosts / run.quorum);
  return std::max(3U, possible);
}

std::size_t most_open_units(std::size_t active_hosts) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kPerHost = 8;  // devices, or a queue for some
  return std::max(kLeast, kPerHost * active_hosts);
}

std::uint32_t units_that_close(double share, std::uint32_t units) {
  return std::clamp(static_cast<std::uint32_t>(std::ceil(share * units - 1e-9)),
                    1U, units);
}

}  // namespace quorate
