// How much work a GPU gets at a time. A launch cannot be interrupted, and while
// it runs a desktop that is drawn by the same GPU stands still: so long work is
// cut into slices of a few hundredths of a second, between which the device may
// rest. Decisions of time alone.
#pragma once

#include <cstdint>

#include "base/clock.h"

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
  std::uint32_t next(std::uint64_t groups, double cost) const;
  // These were launched. True if the device is to be waited for.
  bool launched(double cost);
  // The device has done it all; `waited` is how long that took from when all
  // was launched. Returns how long to rest before the next.
  Seconds finished(Seconds waited);

 private:
  double budget() const { return rate_ * kSliceTime.count(); }

  double rest_per_work_;
  double rate_ = 1e9;  // cost per second; what a slow device manages
  double pending_ = 0;
  Seconds owed_{0};
};

}  // namespace quorate
