// Convolutions whose groups have one channel: the vectors are the channels.
// Inner loops, compiled once per instruction set; docs/numerics.md, section 4.
#pragma once

#include <cstddef>

#include "kernels/cpu/vector/product.h"

namespace quorate {

// More taps are more than one segment of a sum; convolutions with more are
// computed as products.
inline constexpr std::size_t kMostDepthwiseTaps = kSegment;

// Windows of a sweep. Tap j of window i is the `channels` elements at
// r + r_rows[i] + taps[j].
// All pointers are borrowed; the tables r_rows and c_rows have `windows`
// entries, taps has tap_count. Channels are dense at r, w and c.
struct DepthwiseWindows {
  const float* r = nullptr;
  const std::ptrdiff_t* r_rows = nullptr;
  const std::ptrdiff_t* taps = nullptr;
  std::size_t tap_count = 0;
  const float* w = nullptr;  // (taps,channels)
  float* c = nullptr;        // window i's result begins at c + c_rows[i]
  const std::ptrdiff_t* c_rows = nullptr;
  std::size_t windows = 0;
  std::size_t channels = 0;
  Finish finish{};
};

// One segment of pixels of a weight gradient, added to dw (taps,w_tap) if it
// continues. Pixel k of a span is at r + its offset + k * r_k + taps[j].
// continues: dw holds the sum of the segments before this one. spans: pixels
// that lie side by side in R; the last of them has ends_segment.
struct DepthwiseSegment {
  const float* r = nullptr;
  const Span* spans = nullptr;  // up to the one that ends the segment
  std::size_t r_k = 0;
  const std::ptrdiff_t* taps = nullptr;
  std::size_t tap_count = 0;
  const float* dy = nullptr;  // of pixel k: at dy + k * dy_k
  std::size_t dy_k = 0;
  float* dw = nullptr;
  std::size_t w_tap = 0;
  std::size_t channels = 0;
  bool continues = false;
};

// windows: writes C for all windows, one sum over the taps per channel, then
// the finish. segment: one segment of a weight gradient, tap by tap. Neither
// allocates or throws.
struct DepthwiseKernels {
  void (*windows)(const DepthwiseWindows& windows);
  void (*segment)(const DepthwiseSegment& segment);
};
// The host must have these instructions (missing_for); the table lives as long
// as the program.
const DepthwiseKernels& depthwise_kernels(InstructionSet set);

}  // namespace quorate
