// The sum of products that matrix products and convolutions share.
//
// total() may be asked for at any time. It follows section 3 exactly: a segment
// starts at +0, and its sum is added to those before only when the next one
// begins or the total is asked for.
#pragma once

#include <cstddef>

#include "base/arithmetic.h"

namespace quorate {

// Sums a * b of the pairs that are pushed, in segments of 256
// (docs/numerics.md, section 3). Nothing pushed: +0.
class SegmentSum {
 public:
  // k ascending; the caller decides which taps count as a k.
  void push(float a, float b) {
    if (count_ != 0 && count_ % kSegment == 0) end_segment();
    acc_ = fma(a, b, acc_);
    ++count_;
  }
  // +0 if nothing was pushed, and never -0 from an empty sum.
  float total() const { return count_ <= kSegment ? acc_ : total_ + acc_; }

 private:
  // Part of the arithmetic; not to be tuned.
  static constexpr std::size_t kSegment = 256;

  void end_segment() {
    total_ = total();
    acc_ = 0.0F;
  }

  float acc_ = 0.0F;    // of the open segment
  float total_ = 0.0F;  // of those before
  std::size_t count_ = 0;
};

}  // namespace quorate
