// R2 (docs/numerics.md, section 5) for one column: for the statistics and
// gradients of normalization, and for means over pixels.
#pragma once

#include <cstddef>

#include "base/arithmetic.h"

namespace quorate {

// Sums values of a column in segments of 64 rows, which are added in pairs.
// Nothing pushed: +0. Push the rows in order; the total may be asked for at any
// time and changes nothing. Holds a few dozen floats and no memory.
class RowSum {
 public:
  // Adds a value, or the product of two numbers with one rounding (fma).
  void push(float value) { put(acc_ + value); }
  void push(float a, float b) { put(fma(a, b, acc_)); }

  // Changes nothing, so it may be asked for at any time; costs one copy of the
  // partial sums. An open segment counts as it is.
  float total() const {
    PairSum all = pairs_;
    if (count_ % kSegment != 0) all.push(acc_);
    return all.total();
  }

 private:
  // Part of the arithmetic; not to be tuned.
  static constexpr std::size_t kSegment = 64;

  void put(float acc) {
    acc_ = acc;
    if (++count_ % kSegment != 0) return;
    pairs_.push(acc_);
    acc_ = 0.0F;
  }

  PairSum pairs_;
  float acc_ = 0.0F;  // of the open segment
  std::size_t count_ = 0;
};

}  // namespace quorate
