#include "server/making/fitting_shard.h"

#include <vector>

#include <doctest/doctest.h>

namespace quorate {
namespace {

// Three shards of 80 steps, of which so many are handed out.
EpochProgress with_out(std::uint32_t first, std::uint32_t second,
                       std::uint32_t third = 0) {
  EpochProgress epoch({80, 80, 80}, /*seed=*/1, /*epoch=*/0);
  std::uint32_t shard = 0;
  for (const std::uint32_t steps : {first, second, third}) {
    if (steps > 0) epoch.hand_out(shard, steps);
    ++shard;
  }
  return epoch;
}

using Held = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a unit goes where it fits, and tails are for slower devices") {
  const EpochProgress epoch = with_out(50, 10);  // 30 and 70 steps left
  CHECK(fitting_shard(epoch, Held{0, 1}, 40) == 1);
  CHECK(fitting_shard(epoch, Held{0, 1}, 30) == 0);
  CHECK(fitting_shard(epoch, Held{1, 0}, 10) == 0);
  // The only new one.
  CHECK(fitting_shard(epoch, Held{0}, 40) == 2);
  CHECK(fitting_shard(epoch, Held{0, 1}, 75) == 2);
}

TEST_CASE("where no unit fits, tails are brought to an end as ever") {
  CHECK_FALSE(fitting_shard(with_out(50, 10, 1), Held{0}, 40).has_value());
  CHECK_FALSE(fitting_shard(with_out(50, 10), Held{0}, 90).has_value());
  // A host that holds nothing takes what others have left behind.
  CHECK_FALSE(fitting_shard(with_out(50, 10), Held{}, 10).has_value());
  CHECK_FALSE(fitting_shard(with_out(80, 10), Held{0}, 10).has_value());
}

}  // namespace quorate
