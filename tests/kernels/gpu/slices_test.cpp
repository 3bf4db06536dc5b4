#include "kernels/gpu/slices.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

// A device that does `rate` a second, fed with groups of `cost`. Returns the
// longest time between two waits, of the last `count` ones.
struct Simulated {
  double longest_slice = 0;  // seconds
  double worked = 0;
  double rested = 0;
};
Simulated run(Slices& slices, double rate, double cost, int waits) {
  Simulated done;
  for (int i = 0; i < waits; ++i) {
    double launched = 0;
    bool is_full = false;
    while (!is_full) {
      std::uint32_t groups = slices.next(1ULL << 40, cost);
      REQUIRE(groups >= 1);
      launched += groups * cost;
      is_full = slices.launched(groups * cost);
    }
    double time = launched / rate;
    done.longest_slice = std::max(done.longest_slice, time);
    done.worked += time;
    done.rested += slices.finished(Seconds(time)).count();
  }
  return done;
}

}  // namespace

TEST_CASE("slices are as long as they are meant to be, on any device") {
  for (double rate : {1e8, 1e9, 1e11, 1e13}) {
    CAPTURE(rate);
    Slices slices(100);
    run(slices, rate, 1e4, 30);  // it learns
    Simulated after = run(slices, rate, 1e4, 10);
    CHECK(after.longest_slice <= kMostSliceTime.count());
    CHECK(after.worked / 10 >= kSliceTime.count() / 3);
    CHECK(after.rested == 0);
  }
}

TEST_CASE("even the first slices are short on a slow device") {
  Slices slices(100);
  CHECK(run(slices, 5e8, 1e4, 1).longest_slice <= kMostSliceTime.count());
}

TEST_CASE("a group that is long by itself is launched alone") {
  Slices slices(100);
  CHECK(slices.next(1000, 1e12) == 1);
  CHECK(slices.launched(1e12));
}

TEST_CASE("a long wait for little work costs only a few slices") {
  Slices slices(100);
  std::uint32_t before = slices.next(1 << 30, 1);
  slices.launched(10);
  slices.finished(Seconds(3));  // a driver that compiled
  CHECK(slices.next(1 << 30, 1) >= before / 4 - 1);
}

TEST_CASE("a device rests for its share of the time") {
  for (std::uint32_t percent : {100U, 75U, 50U, 20U, 1U}) {
    CAPTURE(percent);
    Slices slices(percent);
    Simulated done = run(slices, 1e10, 1e5, 200);
    double share = done.worked / (done.worked + done.rested);
    CHECK(share == doctest::Approx(percent / 100.0).epsilon(0.05));
  }
}

}  // namespace quorate
