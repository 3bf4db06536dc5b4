#include "kernels/reference/pooling.h"

#include <algorithm>

#include "kernels/reference/image_loops.h"
#include "kernels/reference/row_sum.h"

namespace quorate::reference {
namespace {

// Calls f(offset in the input) for the taps of a window that lie inside the
// image, in increasing order.
template <class F>
void for_window(const PoolingSizes& n, const Pooling& how, const Pixel& out,
                std::size_t channel, F f) {
  for_taps(how.size, how.size, [&](Index kh, Index kw) {
    Pixel at = tap_of(out, how.stride, how.padding, kh, kw);
    if (is_inside(n.in, at)) f(offset(n.in, at, channel));
  });
}

// The offset in x of the greatest element of a window: the first of equals,
// and the last NaN if there is one.
std::size_t greatest(const PoolingSizes& n, const Pooling& how, const float* x,
                     const Pixel& out, std::size_t channel) {
  bool found = false;
  std::size_t best = 0;
  for_window(n, how, out, channel, [&](std::size_t here) {
    if (!found || x[here] > x[best] || x[here] != x[here]) best = here;
    found = true;
  });
  return best;
}

}  // namespace

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

void average_pool2d(const PoolingSizes& n, const Pooling& how, float reciprocal,
                    const float* x, float* y) {
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t c = 0; c < n.out.channels; ++c) {
      float sum = 0.0F;
      for_window(n, how, out, c, [&](std::size_t at) { sum = sum + x[at]; });
      y[offset(n.out, out, c)] = sum * reciprocal;
    }
  });
}

void average_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                             float reciprocal, const float* dy, float* dx) {
  std::fill_n(dx, n.in.pixels() * n.in.channels, 0.0F);
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t c = 0; c < n.out.channels; ++c) {
      float slope = dy[offset(n.out, out, c)] * reciprocal;
      for_window(n, how, out, c,
                 [&](std::size_t at) { dx[at] = dx[at] + slope; });
    }
  });
}

void mean_pixels(const PixelSizes& n, float reciprocal, const float* x,
                 float* y) {
  for (std::size_t image = 0; image < n.images; ++image) {
    for (std::size_t c = 0; c < n.channels; ++c) {
      RowSum sum;
      for (std::size_t p = 0; p < n.pixels; ++p) {
        sum.push(x[image * n.image() + p * n.channels + c]);
      }
      y[image * n.channels + c] = sum.total() * reciprocal;
    }
  }
}

void mean_pixels_gradient(const PixelSizes& n, float reciprocal,
                          const float* dy, float* dx) {
  for (std::size_t image = 0; image < n.images; ++image) {
    for (std::size_t i = 0; i < n.image(); ++i) {
      dx[image * n.image() + i] =
          dy[image * n.channels + i % n.channels] * reciprocal;
    }
  }
}

}  // namespace quorate::reference
