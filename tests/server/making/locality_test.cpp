// Which shard a host gets a unit of; and that whatever hosts say of their
// shards, every minibatch of every epoch is handed out once.
#include "server/making/locality.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "server/making/work_generator.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;

// As a server that has one run: makes units for hosts, stores rows, restarts.
class Generator {
 public:
  Generator(std::vector<std::uint32_t> shard_steps, std::uint32_t epochs,
            std::uint32_t local_steps)
      : steps_(std::move(shard_steps)) {
    run_.model = {"mlp", {16, 3, 2}};
    run_.seed = 11;
    run_.batch = 4;
    run_.local_steps = local_steps;
    run_.epochs = epochs;
    run_.optimizer.learning_rate = 1;
    restart();
  }

  // nullopt: everything is handed out.
  std::optional<NextUnit> make(HostId host,
                               const std::vector<std::uint32_t>& held) {
    if (cursor_.steps_before >= progress_.epoch_steps() * run_.epochs) {
      return std::nullopt;
    }
    if (progress_.is_done()) progress_.begin(++cursor_.epoch);
    hosts_.leave(host);
    const std::uint32_t shard = choose_shard(progress_, held, hosts_).value();
    hosts_.move(host, shard);
    NextUnit unit = next_unit(
        run_, cursor_,
        {shard, steps_[shard] * run_.batch + 1, progress_.first_step(shard)},
        progress_.epoch_steps(), {});
    cursor_ = unit.after;
    ShardProgress row = progress_.hand_out(shard, unit.range.steps);
    rows_[row.place] = row;
    most_begun_ = std::max(most_begun_, progress_.begun().size());
    return unit;
  }

  // Memory is lost; the store's rows and cursor are there.
  void restart() {
    std::vector<ShardProgress> stored;
    for (const auto& [place, row] : rows_) {
      if (row.epoch == cursor_.epoch) stored.push_back(row);
    }
    progress_ = EpochProgress(steps_, run_.seed, cursor_.epoch, stored);
    hosts_ = {};
  }

  const std::vector<std::uint32_t>& shard_steps() const { return steps_; }
  const Run& run() const { return run_; }
  std::size_t rows() const { return rows_.size(); }
  std::size_t most_begun() const { return most_begun_; }

 private:
  Run run_;
  std::vector<std::uint32_t> steps_;
  RunCursor cursor_;
  EpochProgress progress_;
  ShardHosts hosts_;
  std::map<std::uint32_t, ShardProgress> rows_;  // by place
  std::size_t most_begun_ = 0;
};

// Downloads of hosts that take turns, and keep what they have.
std::size_t downloads(Generator& generator, std::size_t host_count,
                      std::uint32_t epochs_to_count = UINT32_MAX) {
  std::vector<std::set<std::uint32_t>> held(host_count);
  std::size_t count = 0;
  for (std::size_t turn = 0;; ++turn) {
    auto& mine = held[turn % host_count];
    auto unit = generator.make(static_cast<HostId>(1 + turn % host_count),
                               {mine.begin(), mine.end()});
    if (!unit || unit->range.epoch >= epochs_to_count) return count;
    if (mine.insert(unit->range.shard_index).second) ++count;
  }
}

}  // namespace

TEST_CASE(
    "a host gets what it holds, one that holds nothing what nobody is at") {
  // Shards 0 to 3 of 8 steps; in the order of the epoch: a, b, c, d.
  const std::vector<std::uint32_t> steps(4, 8);
  EpochProgress order(steps, 3, 0);
  std::vector<std::uint32_t> at;
  while (auto shard = order.next_new()) {
    order.hand_out(*shard, 8);
    at.push_back(*shard);
  }
  const std::uint32_t a = at[0], b = at[1], c = at[2], d = at[3];
  EpochProgress epoch(steps, 3, 0);
  ShardHosts others;
  auto chosen = [&](std::vector<std::uint32_t> held) {
    return choose_shard(epoch, held, others);
  };

  CHECK(chosen({}) == a);
  CHECK(chosen({c}) == c);
  CHECK(chosen({d, b}) == b);  // the first in the order

  epoch.hand_out(b, 2);
  CHECK(chosen({}) == b);  // begun, and nobody is at it: before a new one
  CHECK(chosen({c, b}) == b);
  CHECK(chosen({c}) == c);
  others.move(1, b);
  CHECK(chosen({}) == a);      // one host is enough for a shard
  CHECK(chosen({c, b}) == c);  // also of those that it holds
  CHECK(chosen({b}) == b);     // but what it holds comes first

  epoch.hand_out(c, 8);
  CHECK(chosen({c}) == a);  // nothing is left of it

  epoch.hand_out(a, 6);
  epoch.hand_out(d, 1);
  others.move(2, a);
  others.move(3, d);
  // No new one: 2 left at a, 6 at b, 7 at d, with one host each.
  CHECK(chosen({}) == d);
  others.move(4, d);
  CHECK(chosen({}) == b);      // 7 steps for three hosts, 6 for two
  CHECK(chosen({a, d}) == d);  // 2 for two, 7 for three
  others.leave(1);
  CHECK(chosen({}) == b);
  CHECK(chosen({a, d, b}) == b);

  for (std::uint32_t shard : {a, b, d}) {
    epoch.hand_out(shard, epoch.left(shard));
  }
  CHECK_FALSE(chosen({}).has_value());
  CHECK_FALSE(chosen({a}).has_value());
}

TEST_CASE("of very many begun shards the first few thousand are looked at") {
  constexpr std::uint32_t kBegun = 4100;
  EpochProgress epoch(std::vector<std::uint32_t>(kBegun, 2), 3, 0);
  ShardHosts others;
  for (std::uint32_t shard = 0; shard < kBegun; ++shard) {
    epoch.hand_out(shard, 1);
    others.move(1 + shard, shard);
  }
  // Nobody is at one of them.
  others.leave(1 + 4000);
  CHECK(choose_shard(epoch, {}, others) == 4000);
  others.move(1 + 4000, 4000);
  others.leave(1 + 4099);
  CHECK(choose_shard(epoch, {}, others) != 4099);
}

TEST_CASE("hosts are counted at the shard of their last unit") {
  ShardHosts hosts;
  hosts.move(1, 5);
  hosts.move(2, 5);
  hosts.move(2, 6);
  hosts.move(2, 6);
  CHECK(hosts.count(5) == 1);
  CHECK(hosts.count(6) == 1);
  CHECK(hosts.count(7) == 0);
  CHECK(hosts.leave(1) == 5);
  CHECK(hosts.count(5) == 0);
  CHECK(hosts.leave(1) == std::nullopt);
  CHECK(hosts.leave(2) == 6);
  CHECK(hosts.count(6) == 0);
}

TEST_CASE("shards are found by their hash, also two of the same bytes") {
  const std::vector<ShardEntry> shards = {
      {filled<Hash>(1), 8}, {filled<Hash>(2), 8}, {filled<Hash>(1), 8}};
  ShardIndex index(shards);
  CHECK(index.contains(filled<Hash>(2)));
  CHECK_FALSE(index.contains(filled<Hash>(3)));
  std::vector<Hash> asked = {filled<Hash>(3), filled<Hash>(1)};
  std::vector<std::uint32_t> found = index.find(asked);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("every batch once, whoever asks, whatever they say, with restarts") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto below = [&](std::uint32_t n) {
      return static_cast<std::uint32_t>(random() % n);
    };
    std::vector<std::uint32_t> steps(1 + below(12));
    for (std::uint32_t& one : steps) one = below(10);
    Generator generator(steps, 3, 1 + below(4));
    // By epoch and shard: the first step that was not handed out.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next;
    std::uint32_t epoch = 0;
    std::uint64_t before = 0;
    std::uint64_t all = 0;
    for (std::uint32_t one : steps) all += 3 * one;
    for (;;) {
      if (below(5) == 0) generator.restart();
      std::vector<std::uint32_t> held;
      while (below(3) > 0) {
        held.push_back(below(static_cast<std::uint32_t>(steps.size())));
      }
      auto unit = generator.make(1 + below(6), held);
      if (!unit) break;
      const SampleRange& range = unit->range;
      CHECK(range.epoch >= epoch);  // one epoch after the other
      epoch = range.epoch;
      auto& first = next[{range.epoch, range.shard_index}];
      CHECK(range.first == first * 4);
      CHECK(range.steps > 0);
      first += range.steps;
      CHECK(first <= steps[range.shard_index]);
      CHECK(unit->learning_rate ==
            static_cast<float>(1.0 - static_cast<double>(before) /
                                         static_cast<double>(all)));
      before += range.steps;
    }
    CHECK(before == all);
    CHECK(generator.rows() <= steps.size());
  }
}

TEST_CASE("hosts alone at their shards: each shard is downloaded about once") {
  constexpr std::size_t kHosts = 10;
  Generator generator(std::vector<std::uint32_t>(200, 12), 3, 1);
  const std::size_t first_epoch = downloads(generator, kHosts, 1);
  // Once each, and a few at the end that the hosts share; one after the other
  // it would be 200 for each host.
  CHECK(first_epoch >= 200);
  CHECK(first_epoch <= 200 + 4 * kHosts);
  CHECK(generator.most_begun() <= kHosts);

  Generator again(std::vector<std::uint32_t>(200, 12), 3, 1);
  const std::size_t all_epochs = downloads(again, kHosts);
  // From the second epoch on hosts have most of what they need.
  CHECK(all_epochs <= 200 + 12 * kHosts);
}

TEST_CASE("with few shards hosts share them evenly") {
  Generator generator(std::vector<std::uint32_t>(3, 1000), 1, 1);
  // Alone each would hold all three.
  CHECK(downloads(generator, 30) <= 36);
}

TEST_CASE("a host that claims every shard delays nobody and opens no more") {
  Generator generator(std::vector<std::uint32_t>(50, 10), 1, 1);
  std::vector<std::uint32_t> everything(50);
  for (std::uint32_t i = 0; i < 50; ++i) everything[i] = i;
  std::set<std::uint32_t> mine;
  std::size_t honest_downloads = 0;
  for (std::size_t turn = 0;; ++turn) {
    const bool is_honest = turn % 2 == 0;
    auto unit = is_honest ? generator.make(1, {mine.begin(), mine.end()})
                          : generator.make(2, everything);
    if (!unit) break;
    if (is_honest && mine.insert(unit->range.shard_index).second) {
      ++honest_downloads;
    }
  }
  CHECK(honest_downloads <= 27);
  CHECK(generator.most_begun() <= 2);
}

TEST_CASE("a hundred thousand shards are no burden") {
  Generator generator(std::vector<std::uint32_t>(100'000, 2), 1, 2);
  std::vector<std::uint32_t> held;
  for (std::uint32_t i = 0; i < 256; ++i) held.push_back(i * 390);
  std::size_t units = 0;
  while (generator.make(1 + static_cast<HostId>(units % 50), held)) ++units;
  CHECK(units == 100'000);
}

}  // namespace quorate
