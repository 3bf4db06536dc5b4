// Pixels and taps of images (N,H,W,C), for plain loops.
//
// The order in which these visit is the order of the sums in docs/numerics.md,
// so do not change one loop for another. All are header-only and own nothing.
#pragma once

#include <cstddef>

#include "kernels/shapes.h"

namespace quorate::reference {

// Positions are signed here: taps lie before and beyond the image too.
// Conversions are explicit below: -Wconversion is an error here.
using Index = std::ptrdiff_t;

// row and col may lie outside of the image; image may not.
struct Pixel {
  Index image, row, col;
};

// Calls f(pixel) in increasing order, columns fastest.
// Rows go before columns and images before rows, as in memory.
template <class F>
void for_pixels(const ImageSizes& n, F f) {
  for (Index image = 0; image < static_cast<Index>(n.images); ++image) {
    for (Index row = 0; row < static_cast<Index>(n.height); ++row) {
      for (Index col = 0; col < static_cast<Index>(n.width); ++col) {
        f(Pixel{image, row, col});
      }
    }
  }
}

// Calls f(kh, kw) for every tap, kw fastest.
template <class F>
void for_taps(std::size_t height, std::size_t width, F f) {
  for (Index kh = 0; kh < static_cast<Index>(height); ++kh) {
    for (Index kw = 0; kw < static_cast<Index>(width); ++kw) f(kh, kw);
  }
}

// False for a place in the padding.
inline bool is_inside(const ImageSizes& n, const Pixel& at) {
  return at.row >= 0 && at.row < static_cast<Index>(n.height) && at.col >= 0 &&
         at.col < static_cast<Index>(n.width);
}

// Where a channel of a pixel lies in the array. The pixel must be inside.
// In elements from the array's start; channels lie side by side.
inline std::size_t offset(const ImageSizes& n, const Pixel& at,
                          std::size_t channel) {
  auto [image, row, col] = at;
  Index pixel = (image * static_cast<Index>(n.height) + row) *
                    static_cast<Index>(n.width) +
                col;
  return static_cast<std::size_t>(pixel) * n.channels + channel;
}

// Where the tap (kh, kw) of the window at an output pixel lies.
// The pixel may lie in the padding: ask is_inside before you read it.
inline Pixel tap_of(const Pixel& out, std::size_t stride, std::size_t padding,
                    Index kh, Index kw) {
  auto step = static_cast<Index>(stride);
  auto before = static_cast<Index>(padding);
  return {out.image, out.row * step + kh - before,
          out.col * step + kw - before};
}

}  // namespace quorate::reference
