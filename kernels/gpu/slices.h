// How much work a GPU gets at a time. A launch cannot be interrupted, and while
// it runs a desktop that is drawn by the same GPU stands still: so long work is
// cut into slices of a few hundredths of a second, between which the device may
// rest. Decisions of time alone.
//
// It measures: after each wait it compares the time with what it expected, and
// learns how fast each kernel is here, by a factor of 4 up or 2 down at most
// per wait, since another program may have been in the way. It starts by taking
// the device for slow, so the first slices are short.
//
// Pure but for its own state: no clock, no device. GpuQueue feeds it.
//
// Rejected: a fixed number of groups per launch, which is too short on a large
// GPU and far too long on an old one.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "kernels/gpu/gpu_kernels.h"

namespace quorate {

// What a slice is meant to take, and what it may (the tests hold it to that).
inline constexpr Seconds kSliceTime{0.02};
inline constexpr Seconds kMostSliceTime{0.05};

// For one device and one thread.
class Slices {
 public:
  // percent: share of the time in which the device works, 1 to 100.
  explicit Slices(std::uint32_t percent);

  // How many of `groups` (at least 1) to launch now, if one costs `cost`. Costs
  // are in products of a matrix product, roughly. Returns 1 to `groups`.
  std::uint32_t next(GpuKernel kernel, std::uint64_t groups, double cost) const;
  // These were launched; cost: of all of them. True if a slice is full and the
  // device is to be waited for.
  bool launched(GpuKernel kernel, double cost);
  // The device has done it all; `waited` is how long that took from when all
  // was launched. Returns how long to rest before the next: 0 at 100 percent,
  // else short rests are saved up to 10 ms, which a system can keep.
  Seconds finished(Seconds waited);

 private:
  // Of each kernel: devices differ in what they are good at.
  struct Pace {
    double rate = 1e9;    // cost per second; what a slow device manages
    double expected = 0;  // seconds, of what was launched
  };
  static std::size_t index(GpuKernel kernel) {
    return static_cast<std::size_t>(kernel);
  }
  // slowness: time that was needed, over time that was expected.
  void learn(double slowness);

  // Seconds of rest for each second of work: (100 - percent) / percent.
  double rest_per_work_;
  std::array<Pace, kGpuKernelNames.size()> paces_{};
  double expected_ = 0;  // seconds, of all that was launched
  Seconds owed_{0};
};

}  // namespace quorate
