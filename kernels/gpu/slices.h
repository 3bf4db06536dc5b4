// How much work a GPU gets at a time. A launch cannot be interrupted, and while
// it runs a desktop that is drawn by the same GPU stands still: so long work is
// cut into slices of a few hundredths of a second, between which the device may
// rest. Decisions of time alone.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "kernels/gpu/gpu_kernels.h"

namespace quorate {

// What a slice is meant to take, and what it may.
inline constexpr Seconds kSliceTime{0.02};
inline constexpr Seconds kMostSliceTime{0.05};

class Slices {
 public:
  // percent: share of the time in which the device works, 1 to 100.
  explicit Slices(std::uint32_t percent);

  // How many of `groups` (at least 1) to launch now, if one costs `cost`.
  // Costs are in products of a matrix product, roughly.
  std::uint32_t next(GpuKernel kernel, std::uint64_t groups, double cost) const;
  // These were launched. True if the device is to be waited for.
  bool launched(GpuKernel kernel, double cost);
  // The device has done it all; `waited` is how long that took from when all
  // was launched. Returns how long to rest before the next.
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
  void learn(double slowness);

  double rest_per_work_;
  std::array<Pace, kGpuKernelNames.size()> paces_{};
  double expected_ = 0;  // seconds, of all that was launched
  Seconds owed_{0};
};

}  // namespace quorate
