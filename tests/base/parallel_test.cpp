#include "base/parallel.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr std::chrono::seconds kMeetingTime{20};

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
  // Each waits for the other two, but not for ever.
  std::latch all(3);
  const auto patience = std::chrono::steady_clock::now() + kMeetingTime;
  std::atomic<int> met = 0;
  parallel_for(3, 3, [&](std::size_t) {
    all.count_down();
    while (!all.try_wait() && std::chrono::steady_clock::now() < patience) {
      std::this_thread::yield();
    }
    met += all.try_wait();
  });
  CHECK(met == 3);
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
