// Tells a slow transfer from a hostile one. Internal to server/http.
#pragma once

#include <cstddef>

#include "base/clock.h"

namespace quorate {

// A transfer must move bytes_per_second on average in every window. An average
// since its start would let a fast beginning pay for hours of standing still;
// a deadline that every byte extends would let it trickle for ever.
class RateGuard {
 public:
  RateGuard(double bytes_per_second, Seconds window)
      : bytes_per_second_(bytes_per_second), window_(window) {}

  void start(Instant now) {
    window_start_ = now;
    bytes_ = 0;
  }
  void add(std::size_t bytes) { bytes_ += bytes; }

  // True if a window has passed with too few bytes; else begins the next one
  // when it is time.
  bool is_too_slow(Instant now) {
    Seconds passed = now - window_start_;
    if (passed < window_) return false;
    if (static_cast<double>(bytes_) < bytes_per_second_ * passed.count()) {
      return true;
    }
    start(now);
    return false;
  }

 private:
  double bytes_per_second_;
  Seconds window_;
  Instant window_start_{};
  std::size_t bytes_ = 0;
};

}  // namespace quorate
