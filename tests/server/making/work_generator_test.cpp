#include "server/making/work_generator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "server/making/usual_speed.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;

// Three shards of 5, 3 and 0 whole batches of 4; 1, 2 and 3 samples are over.
std::vector<ShardEntry> three_shards() {
  return {{filled<Hash>(1), 21}, {filled<Hash>(2), 14}, {filled<Hash>(3), 3}};
}

Run small_run() {
  Run run;
  run.model = {"mlp", {16, 3, 2}};
  run.seed = 5;
  run.batch = 4;
  run.local_steps = 2;
  run.epochs = 3;
  run.optimizer.learning_rate = 0.5F;
  return run;
}

// Of shards in the order of the data set, epoch after epoch.
std::vector<NextUnit> all_units(const Run& run,
                                const std::vector<ShardEntry>& shards) {
  const std::uint64_t epoch_steps = steps_per_epoch(shards, run.batch);
  std::vector<NextUnit> units;
  RunCursor cursor;
  for (; cursor.epoch < run.epochs; ++cursor.epoch) {
    for (std::uint32_t index = 0; index < shards.size(); ++index) {
      ShardRest rest{index, shards[index].samples, 0};
      while (rest.first_step < rest.samples / run.batch) {
        units.push_back(next_unit(run, cursor, rest, epoch_steps, {}));
        cursor = units.back().after;
        rest.first_step += units.back().range.steps;
        REQUIRE(units.size() < 1000);
      }
    }
  }
  return units;
}

}  // namespace

TEST_CASE("the units of a shard are its whole batches, in order") {
  std::vector<ShardEntry> shards = three_shards();
  std::vector<NextUnit> units = all_units(small_run(), shards);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next_first;
  std::uint64_t steps = 0;
  for (const NextUnit& unit : units) {
    const SampleRange& range = unit.range;
    CHECK(range.shard_samples == shards.at(range.shard_index).samples);
    CHECK(range.batch == 4);
    std::uint32_t& first = next_first[{range.epoch, range.shard_index}];
    CHECK(range.first == first);
    first += range.steps * range.batch;
    CHECK(first <= range.shard_samples);
    steps += range.steps;
  }
  // Shards of 5 and 3 steps; the third has no whole batch.
  CHECK(steps == 3 * 8);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    CHECK(next_first.at({epoch, 0}) == 20);
    CHECK(next_first.at({epoch, 1}) == 12);
    CHECK(next_first.count({epoch, 2}) == 0);
  }
}

TEST_CASE("the last unit of a shard has what is left of it") {
  std::vector<NextUnit> units = all_units(small_run(), three_shards());
  REQUIRE(units.size() == 3 * (3 + 2));
  std::multiset<std::uint32_t> of_first_epoch;
  for (std::size_t i = 0; i < 5; ++i) {
    of_first_epoch.insert(units[i].range.steps);
  }
  CHECK(of_first_epoch == std::multiset<std::uint32_t>{1, 1, 2, 2, 2});
}

TEST_CASE("the cursor counts units, steps and the round") {
  std::vector<NextUnit> units = all_units(small_run(), three_shards());
  std::uint64_t steps = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    steps += units[i].range.steps;
    CHECK(units[i].after.next_unit == i + 1);
    CHECK(units[i].after.steps_before == steps);
    CHECK(units[i].after.round_made == i + 1);
    CHECK(units[i].after.round == 0);
  }
}

TEST_CASE(
    "the learning rate falls linearly with the steps handed out, or not") {
  Run run = small_run();
  std::uint64_t before = 0;
  for (const NextUnit& unit : all_units(run, three_shards())) {
    CHECK(unit.learning_rate ==
          static_cast<float>(0.5 * (1.0 - static_cast<double>(before) / 24)));
    before += unit.range.steps;
  }
  run.lr_schedule = "constant";
  for (const NextUnit& unit : all_units(run, three_shards())) {
    CHECK(unit.learning_rate == 0.5F);
  }
}

TEST_CASE("automatic steps are bounded by time, the shard and the epoch") {
  Run run = small_run();
  run.local_steps = 0;
  run.epochs = 1;
  std::vector<ShardEntry> one = {{filled<Hash>(1), 4 * 640}};
  auto first_steps = [&](double speed) {
    return next_unit(run, {}, {0, one[0].samples, 0}, one[0].samples / 4,
                     {.speed_flops = speed})
        .range.steps;
  };
  run.model.widths = {16384, 8192, 2};
  double step_operations = training_operations(run.model) * run.batch;
  CHECK(first_steps(step_operations * 7 / 60) == 7);  // 60 s of this device
  // Nobody makes units of one step by calling itself slow.
  CHECK(first_steps(1) == std::floor(60 * 2e8 / step_operations));
  CHECK(first_steps(1) > 1);
  run.model.widths = {1 << 16, 1 << 16, 2};
  CHECK(first_steps(1) == 1);  // never less than one
  run.model.widths = {16, 3, 2};
  CHECK(first_steps(1e15) == 640 / 32);  // 1/32 of an epoch
  CHECK(first_steps(std::numeric_limits<double>::infinity()) == 20);
  CHECK(first_steps(std::numeric_limits<double>::quiet_NaN()) == 20);
  CHECK(first_steps(-1) == 20);  // unknown: a slow core is fast enough here
  CHECK(next_unit(run, {}, {0, one[0].samples, 638}, 640, {.speed_flops = 1e15})
            .range.steps == 2);
  // An epoch of fewer than 32 steps still has units of one step.
  one[0].samples = 4 * 10;
  CHECK(first_steps(1e15) == 1);
}

TEST_CASE("in rounds, automatic steps are few, and as long on every device") {
  Run run = small_run();
  run.local_steps = 0;
  run.codec = Codec::int4;
  run.model.widths = {1024, 1024, 2};
  const double step = training_operations(run.model) * run.batch;
  Pace pace{.usual_flops = step, .hosts = 8, .in_rounds = true};  // 1 s a step
  const auto steps = [&](double times_as_fast) {
    pace.speed_flops = times_as_fast * pace.usual_flops;
    return next_unit(run, {}, {0, 4 * 6400, 0}, 6400, pace).range.steps;
  };
  REQUIRE(steps_for_hosts(8) == 5);
  CHECK(steps(1) == 5);
  CHECK(steps(0.5) == 3);
  CHECK(steps(1.2) == 6);
  CHECK(steps(6) == 30);
  CHECK(steps(100) == 40);  // 8 times the usual unit
  CHECK(steps(0.001) == 1);
  CHECK(steps(0) == 5);  // unknown: like others
  pace.hosts = 1000;
  CHECK(steps(1) == steps_for_hosts(1000));
  CHECK(steps_for_hosts(1000) < 5);
  pace.hosts = 8;
  pace.least_seconds = 20;
  CHECK(steps(1) == 20);
  CHECK(steps(0.5) == 10);
  pace.least_seconds = 2;
  // 4 MB down at 50 Mbit/s and half a MB up at 10 take as long as two steps
  // each of 0.5 s; of fp32 as eight.
  pace.usual_flops = 20 * step;
  CHECK(steps(1) == 40);  // 2 s of work
  run.model.widths = {4096, 4096, 2};
  pace.usual_flops = 16 * step;
  const std::uint32_t coded = steps(1);
  run.codec = Codec::fp32;
  CHECK(steps(1) > 3 * coded);
  // Nobody waits for others outside rounds: 60 s of the device.
  pace.in_rounds = false;
  pace.usual_flops = training_operations(run.model) * run.batch;
  CHECK(steps(1) == 60);
}

// Devices of these speeds share one shard; each takes a unit of every round, in
// turns the first. Of all their time until the last unit ends, the share for
// which each is idle: rounds of the whole epoch, or of all but the last.
std::vector<double> idle(const std::vector<double>& speeds,
                         std::uint32_t epoch_steps) {
  Run run = small_run();
  run.local_steps = 0;
  run.model.widths = {1024, 1024, 2};
  const double step = training_operations(run.model) * run.batch;
  Pace pace{
      .usual_flops = step * *std::min_element(speeds.begin(), speeds.end()),
      .fastest_flops = step * *std::max_element(speeds.begin(), speeds.end()),
      .hosts = 2,
      .in_rounds = true};
  std::vector<double> busy(speeds.size());
  double whole = 0;
  ShardRest shard{0, 4 * epoch_steps, 0};
  while (shard.first_step < epoch_steps) {
    double longest = 0;
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (shard.first_step == epoch_steps) shard.first_step = 0;
      pace.speed_flops = step * speeds[i];
      const auto steps =
          next_unit(run, {}, shard, epoch_steps, pace).range.steps;
      shard.first_step += steps;
      busy[i] += steps / speeds[i];
      longest = std::max(longest, steps / speeds[i]);
    }
    whole += longest;
  }
  for (double& time : busy) time = 1 - time / whole;
  return busy;
}

TEST_CASE("devices of a round end together, also where epochs are short") {
  for (const double ratio : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0}) {
    for (const std::uint32_t epoch : {200U, 640U, 6400U}) {
      CAPTURE(ratio);
      CAPTURE(epoch);
      for (const double part : idle({1, ratio}, epoch)) CHECK(part < 0.1);
    }
  }
  for (const double part : idle({1, 2, 4, 6}, 640)) CHECK(part < 0.1);
}

TEST_CASE("a host's word changes units of a round by eight at the most") {
  Run run = small_run();
  run.local_steps = 0;
  run.model.widths = {1024, 1024, 2};
  const double step = training_operations(run.model) * run.batch;
  Pace pace{.usual_flops = step, .fastest_flops = step, .in_rounds = true};
  const auto steps = [&](std::uint32_t epoch, std::uint32_t shard) {
    return next_unit(run, {}, {0, 4 * shard, 0}, epoch, pace).range.steps;
  };
  pace.speed_flops = std::numeric_limits<double>::infinity();
  // Of an epoch a quarter, where the usual unit is 1/32 of it.
  CHECK(steps(128, 128) == 32);
  CHECK(steps(10, 10) == 3);
  // Units of others are shorter where its own would not fit into a shard.
  pace.fastest_flops = std::numeric_limits<double>::infinity();
  pace.speed_flops = step;
  CHECK(steps(6400, 6400) == 5);
  CHECK(steps(6400, 16) == 2);
  pace.speed_flops = pace.fastest_flops;
  CHECK(steps(6400, 16) == 16);
  // Still no more than 60 s of the device that it claims to have.
  run.model.widths = {16384, 8192, 2};
  const double large = training_operations(run.model) * run.batch;
  pace.speed_flops = pace.fastest_flops = 2 * large;
  pace.usual_flops = 2 * large / 100;
  pace.least_seconds = 1200;  // 24 steps of the usual one
  CHECK(steps(64000, 64000) == 120);
}

TEST_CASE("less than a quarter of a unit is not left over of a shard") {
  Run run = small_run();
  run.local_steps = 0;
  run.model.widths = {1024, 1024, 2};
  const double step = training_operations(run.model) * run.batch;
  const Pace pace{.speed_flops = 8 * step,
                  .usual_flops = step,
                  .fastest_flops = 8 * step,
                  .in_rounds = true};
  const auto steps = [&](std::uint32_t rest) {
    return next_unit(run, {}, {0, 4 * 200, 200 - rest}, 6400, pace).range.steps;
  };
  CHECK(steps(200) == 40);
  CHECK(steps(50) == 40);
  CHECK(steps(49) == 49);
  CHECK(steps(17) == 17);
}

TEST_CASE("the usual speed is the median of the last hosts that asked") {
  UsualSpeed usual;
  CHECK(usual.flops() == 0);
  usual.note(1, 0);
  CHECK(usual.flops() == 0);
  usual.note(1, 3e9);
  CHECK(usual.flops() == 3e9);
  usual.note(2, 5e9);
  usual.note(3, 4e9);
  CHECK(usual.flops() == 4e9);
  // One that asks again and again counts once.
  for (int i = 0; i < 100; ++i) usual.note(4, 1e300);
  CHECK(usual.flops() == 4e9);
  for (HostId host = 10; host < 10 + 63; ++host) usual.note(host, 1e9);
  CHECK(usual.flops() == 1e9);
  CHECK(usual.fastest() == 1e9);
}

TEST_CASE("of a host with several devices the slowest is the usual one") {
  UsualSpeed usual;
  for (int round = 0; round < 10; ++round) {
    usual.note(1, 6e9);
    usual.note(1, 6e9);
    usual.note(1, 1e9);
    CHECK(usual.flops() == 1e9);
    CHECK(usual.fastest() == 6e9);
  }
  // It computes on one of them from now on.
  for (int i = 0; i < 8; ++i) usual.note(1, 6e9);
  CHECK(usual.flops() == 6e9);
  usual.note(2, 2e9);
  usual.note(2, 3e9);
  CHECK(usual.flops() == 2e9);
  CHECK(usual.fastest() == 6e9);
}

TEST_CASE("what is left of a shard is left out") {
  CHECK(steps_of_shards(three_shards(), 4) ==
        std::vector<std::uint32_t>{5, 3, 0});
  CHECK(steps_of_shards({}, 4).empty());
  CHECK(steps_per_epoch(three_shards(), 4) == 8);
  CHECK(steps_per_epoch({}, 4) == 0);
}

TEST_CASE("a round has as many units as wished, else as hosts can do") {
  Run run = small_run();
  run.quorum = 2;
  struct Case {
    std::size_t active;
    std::uint32_t units;
  };
  for (const Case& c : {Case{0, 3}, Case{1, 3}, Case{6, 3}, Case{8, 4},
                        Case{9, 4}, Case{100, 50}}) {
    CAPTURE(c.active);
    CHECK(units_of_round(run, c.active) == c.units);
  }
  run.round_units = 7;
  CHECK(units_of_round(run, 100) == 7);
}

TEST_CASE("a round closes at the share of its units, rounded up") {
  struct Row {
    double share;
    std::uint32_t units, closes_at;
  };
  for (const Row& row : {Row{0.6, 5, 3}, Row{0.6, 3, 2}, Row{0.6, 10, 6},
                         Row{0.6, 1, 1}, Row{1.0, 7, 7}, Row{0.01, 7, 1},
                         Row{0.7, 10, 7}, Row{0.1, 30, 3}, Row{0.5, 3, 2}}) {
    CAPTURE(row.share);
    CAPTURE(row.units);
    CHECK(units_that_close(row.share, row.units) == row.closes_at);
  }
}

TEST_CASE("replicas have their turn, busy ones are passed over") {
  CHECK(next_replica({false, false, false}, 0) == 0);
  CHECK(next_replica({false, false, false}, 7) == 1);
  CHECK(next_replica({false, true, true}, 7) == 0);
  CHECK(next_replica({true, true}, 1) == std::nullopt);
  CHECK(next_replica({}, 1) == std::nullopt);
}

}  // namespace quorate
