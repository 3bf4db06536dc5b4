#include "base/parallel.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

namespace quorate {
namespace {

TEST_CASE("every turn is taken once") {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    for (const std::size_t threads : {0U, 1U, 3U, 2000U}) {
      std::vector<std::atomic<int>> taken(count);
      parallel_for(count, threads, [&](std::size_t i) { ++taken[i]; });
      for (const std::atomic<int>& times : taken) CHECK(times == 1);
    }
  }
}

TEST_CASE("turns run at the same time") {
  // each waits for the other two
  std::latch all(3);
  parallel_for(3, 3, [&](std::size_t) { all.arrive_and_wait(); });
}

TEST_CASE("what a turn throws arrives, and ends the loop") {
  std::atomic<int> taken = 0;
  auto throws_at_once = [&](std::size_t) {
    ++taken;
    throw std::runtime_error("turn");
  };
  CHECK_THROWS_WITH(parallel_for(1000, 3, throws_at_once), "turn");
  CHECK(taken <= 3);
}

}  // namespace
}  // namespace quorate
