#include "kernels/reference/convolution.h"

#include <algorithm>
#include <cstddef>

#include "kernels/reference/segment_sum.h"

namespace quorate::reference {
namespace {

// Positions are signed here: taps lie before and beyond the image too.
using Index = std::ptrdiff_t;

struct Pixel {
  Index image, row, col;
};

// Calls f(pixel) in increasing order, columns fastest.
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

bool is_inside(const ImageSizes& n, const Pixel& at) {
  return at.row >= 0 && at.row < static_cast<Index>(n.height) && at.col >= 0 &&
         at.col < static_cast<Index>(n.width);
}

std::size_t offset(const ImageSizes& n, const Pixel& at, std::size_t channel) {
  auto [image, row, col] = at;
  Index pixel = (image * static_cast<Index>(n.height) + row) *
                    static_cast<Index>(n.width) +
                col;
  return static_cast<std::size_t>(pixel) * n.channels + channel;
}

// +0 outside the image.
float value(const float* data, const ImageSizes& n, const Pixel& at,
            std::size_t channel) {
  return is_inside(n, at) ? data[offset(n, at, channel)] : 0.0F;
}

// Where the input is that meets the tap (kh, kw) at an output pixel.
Pixel input_of(const ConvolutionSizes& n, const Pixel& out, Index kh,
               Index kw) {
  auto padding = static_cast<Index>(n.padding);
  return {out.image, out.row + kh - padding, out.col + kw - padding};
}

std::size_t weight_offset(const ConvolutionSizes& n, Index kh, Index kw,
                          std::size_t ci, std::size_t co) {
  Index tap = kh * static_cast<Index>(n.kernel_width) + kw;
  return (static_cast<std::size_t>(tap) * n.in.channels + ci) * n.out.channels +
         co;
}

// The offset in x of the greatest element of a window: the first of equals,
// and the last NaN if there is one.
std::size_t greatest(const PoolingSizes& n, const Pooling& how, const float* x,
                     const Pixel& out, std::size_t channel) {
  auto stride = static_cast<Index>(how.stride);
  auto padding = static_cast<Index>(how.padding);
  bool found = false;
  std::size_t best = 0;
  for_taps(how.size, how.size, [&](Index kh, Index kw) {
    Pixel at{out.image, out.row * stride + kh - padding,
             out.col * stride + kw - padding};
    if (!is_inside(n.in, at)) return;
    std::size_t here = offset(n.in, at, channel);
    if (!found || x[here] > x[best] || x[here] != x[here]) best = here;
    found = true;
  });
  return best;
}

}  // namespace

void conv2d(const ConvolutionSizes& n, const float* x, const float* w,
            float* y) {
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t co = 0; co < n.out.channels; ++co) {
      SegmentSum sum;
      for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
        for (std::size_t ci = 0; ci < n.in.channels; ++ci) {
          sum.push(value(x, n.in, input_of(n, out, kh, kw), ci),
                   w[weight_offset(n, kh, kw, ci, co)]);
        }
      });
      y[offset(n.out, out, co)] = sum.total();
    }
  });
}

void conv2d_input_gradient(const ConvolutionSizes& n, const float* dy,
                           const float* w, float* dx) {
  auto padding = static_cast<Index>(n.padding);
  for_pixels(n.in, [&](const Pixel& in) {
    for (std::size_t ci = 0; ci < n.in.channels; ++ci) {
      SegmentSum sum;
      for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
        Pixel out{in.image, in.row + padding - kh, in.col + padding - kw};
        for (std::size_t co = 0; co < n.out.channels; ++co) {
          sum.push(value(dy, n.out, out, co),
                   w[weight_offset(n, kh, kw, ci, co)]);
        }
      });
      dx[offset(n.in, in, ci)] = sum.total();
    }
  });
}

void conv2d_weight_gradient(const ConvolutionSizes& n, const float* x,
                            const float* dy, float* dw) {
  for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
    for (std::size_t ci = 0; ci < n.in.channels; ++ci) {
      for (std::size_t co = 0; co < n.out.channels; ++co) {
        SegmentSum sum;
        for_pixels(n.out, [&](const Pixel& out) {
          sum.push(value(x, n.in, input_of(n, out, kh, kw), ci),
                   dy[offset(n.out, out, co)]);
        });
        dw[weight_offset(n, kh, kw, ci, co)] = sum.total();
      }
    }
  });
}

void max_pool2d(const PoolingSizes& n, const Pooling& how, const float* x,
                float* y) {
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t c = 0; c < n.out.channels; ++c) {
      y[offset(n.out, out, c)] = x[greatest(n, how, x, out, c)];
    }
  });
}

// Windows in increasing order, so that each input sees its outputs in that
// order.
void max_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                         const float* x, const float* dy, float* dx) {
  std::fill_n(dx, n.in.pixels() * n.in.channels, 0.0F);
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t c = 0; c < n.out.channels; ++c) {
      float& to = dx[greatest(n, how, x, out, c)];
      to = to + dy[offset(n.out, out, c)];
    }
  });
}

}  // namespace quorate::reference
