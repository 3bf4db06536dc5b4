// What is handed out of an epoch, and in which order its shards come.
#include "server/making/epoch_progress.h"

#include <map>
#include <set>

#include <doctest/doctest.h>

namespace quorate {
namespace {

// Takes every shard whole, as the epoch's order has it.
std::vector<std::uint32_t> order_of(EpochProgress& epoch) {
  std::vector<std::uint32_t> order;
  while (auto shard = epoch.next_new()) {
    epoch.hand_out(*shard, epoch.left(*shard));
    order.push_back(*shard);
  }
  return order;
}

}  // namespace

TEST_CASE("each epoch has its own order of shards, a permutation by the seed") {
  const std::vector<std::uint32_t> steps(8, 2);
  auto orders_under = [&](std::uint64_t seed) {
    EpochProgress epoch(steps, seed, 0);
    std::vector<std::vector<std::uint32_t>> orders;
    for (std::uint32_t number = 0; number < 3; ++number) {
      if (number > 0) epoch.begin(number);
      orders.push_back(order_of(epoch));
      CHECK(epoch.is_done());
    }
    return orders;
  };
  auto orders = orders_under(5);
  for (const auto& order : orders) {
    CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == 8);
    CHECK(order.size() == 8);
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders == orders_under(5));
  CHECK(orders != orders_under(6));
}

TEST_CASE("a shard is new, begun, and then done") {
  EpochProgress epoch({5, 3}, 1, 0);
  CHECK(epoch.epoch_steps() == 8);
  CHECK(epoch.begun().empty());
  const std::uint32_t first = epoch.next_new().value();
  const std::uint32_t second = 1 - first;
  epoch.hand_out(first, 2);
  CHECK(epoch.begun() == std::set<std::uint32_t>{first});
  CHECK(epoch.first_step(first) == 2);
  CHECK(epoch.next_new() == second);
  epoch.hand_out(second, epoch.left(second));
  CHECK(epoch.begun() == std::set<std::uint32_t>{first});
  CHECK_FALSE(epoch.next_new().has_value());
  CHECK_FALSE(epoch.is_done());
  epoch.hand_out(first, epoch.left(first));
  CHECK(epoch.begun().empty());
  CHECK(epoch.is_done());
}

TEST_CASE("shards without a whole batch are passed over") {
  EpochProgress epoch({0, 4, 0}, 3, 0);
  CHECK(epoch.next_new() == 1);
  epoch.hand_out(1, 4);
  CHECK(epoch.is_done());
  CHECK(EpochProgress().is_done());
  CHECK(EpochProgress({0, 0}, 3, 0).is_done());
}

TEST_CASE("what was stored of the epoch is known again, and nothing else") {
  const std::vector<std::uint32_t> steps = {4, 4, 4, 4};
  EpochProgress before(steps, 9, 2);
  std::vector<ShardProgress> rows;
  const std::uint32_t last = 3 - before.next_new().value();  // out of turn
  rows.push_back(before.hand_out(last, 3));
  rows.push_back(before.hand_out(before.next_new().value(), 4));
  rows.push_back({.place = 99, .epoch = 2, .steps = 1});  // not of this set
  std::uint32_t untouched = 0;
  while (before.left(untouched) < 4) ++untouched;
  rows.push_back({.place = before.place(untouched), .epoch = 1, .steps = 4});

  EpochProgress after(steps, 9, 2, rows);
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    CHECK(after.first_step(shard) == before.first_step(shard));
  }
  CHECK(after.begun() == before.begun());
  CHECK(after.next_new() == before.next_new());
}

TEST_CASE("more steps than a shard has are all of it") {
  EpochProgress before({4, 2}, 9, 0);
  const std::vector<ShardProgress> rows = {
      {.place = 0, .epoch = 0, .steps = UINT32_MAX}};
  EpochProgress after({4, 2}, 9, 0, rows);
  CHECK(after.left(before.next_new().value()) == 0);
  CHECK(after.next_new().has_value());
}

}  // namespace quorate
