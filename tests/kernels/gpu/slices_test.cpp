#include "kernels/gpu/slices.h"

#include <algorithm>
#include <span>

#include <doctest/doctest.h>

namespace quorate {
namespace {

// A kernel that a device runs at so many units of cost a second.
struct Kernel {
  GpuKernel name;
  double rate;
};
constexpr Kernel at(double rate) {
  return {GpuKernel::product_ab_64, rate};
}

struct Simulated {
  double longest_slice = 0;  // seconds
  double worked = 0;
  double rested = 0;
};
// A device fed with these in turns, `most` groups of `cost` each time, for so
// many waits.
Simulated run(Slices& slices, std::span<const Kernel> kernels, double cost,
              std::uint64_t most, int waits) {
  Simulated done;
  std::size_t turn = 0;
  for (int i = 0; i < waits; ++i) {
    double time = 0;
    bool is_full = false;
    while (!is_full) {
      const Kernel& kernel = kernels[turn++ % kernels.size()];
      std::uint32_t groups = slices.next(kernel.name, most, cost);
      REQUIRE(groups >= 1);
      time += groups * cost / kernel.rate;
      is_full = slices.launched(kernel.name, groups * cost);
    }
    done.longest_slice = std::max(done.longest_slice, time);
    done.worked += time;
    done.rested += slices.finished(Seconds(time)).count();
  }
  return done;
}
Simulated run(Slices& slices, double rate, double cost, int waits) {
  Kernel kernel = at(rate);
  return run(slices, {&kernel, 1}, cost, 1ULL << 40, waits);
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

TEST_CASE("a kernel that a device is bad at has slices as short as others") {
  constexpr Kernel kKernels[] = {at(1e11), {GpuKernel::max_pool, 1e8}};
  for (std::uint64_t most : {1ULL << 40, 1000ULL}) {
    CAPTURE(most);
    Slices slices(100);
    run(slices, kKernels, 1e4, most, 100);  // it learns
    Simulated after = run(slices, kKernels, 1e4, most, 20);
    CHECK(after.longest_slice <= kMostSliceTime.count());
    CHECK(after.worked / 20 >= kSliceTime.count() / 3);
  }
}

TEST_CASE("a group that is long by itself is launched alone") {
  Slices slices(100);
  CHECK(slices.next(GpuKernel::map, 1000, 1e12) == 1);
  CHECK(slices.launched(GpuKernel::map, 1e12));
}

TEST_CASE("a long wait for little work costs only a few slices") {
  Slices slices(100);
  std::uint32_t before = slices.next(GpuKernel::map, 1 << 30, 1);
  slices.launched(GpuKernel::map, 10);
  slices.finished(Seconds(3));  // a driver that compiled
  CHECK(slices.next(GpuKernel::map, 1 << 30, 1) >= before / 4 - 1);
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
