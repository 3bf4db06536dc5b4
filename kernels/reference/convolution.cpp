#include "kernels/reference/convolution.h"

#include "kernels/reference/image_loops.h"
#include "kernels/reference/segment_sum.h"

namespace quorate::reference {
namespace {

// +0 outside the image.
float value(const float* data, const ImageSizes& n, const Pixel& at,
            std::size_t channel) {
  return is_inside(n, at) ? data[offset(n, at, channel)] : 0.0F;
}

Pixel input_of(const ConvolutionSizes& n, const Pixel& out, Index kh,
               Index kw) {
  return tap_of(out, n.stride, n.padding, kh, kw);
}

// ci: within its group.
std::size_t weight_offset(const ConvolutionSizes& n, Index kh, Index kw,
                          std::size_t ci, std::size_t co) {
  Index tap = kh * static_cast<Index>(n.kernel_width) + kw;
  return (static_cast<std::size_t>(tap) * n.in_channels() + ci) *
             n.out.channels +
         co;
}

}  // namespace

void conv2d(const ConvolutionSizes& n, const float* x, const float* w,
            float* y) {
  for_pixels(n.out, [&](const Pixel& out) {
    for (std::size_t co = 0; co < n.out.channels; ++co) {
      std::size_t first_in = co / n.out_channels() * n.in_channels();
      SegmentSum sum;
      for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
        for (std::size_t ci = 0; ci < n.in_channels(); ++ci) {
          sum.push(value(x, n.in, input_of(n, out, kh, kw), first_in + ci),
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
  auto stride = static_cast<Index>(n.stride);
  for_pixels(n.in, [&](const Pixel& in) {
    for (std::size_t channel = 0; channel < n.in.channels; ++channel) {
      std::size_t group = channel / n.in_channels();
      std::size_t ci = channel % n.in_channels();
      SegmentSum sum;
      for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
        Index row = in.row + padding - kh;
        Index col = in.col + padding - kw;
        // No window has this tap here.
        if (row % stride != 0 || col % stride != 0) return;
        Pixel out{in.image, row / stride, col / stride};
        for (std::size_t i = 0; i < n.out_channels(); ++i) {
          std::size_t co = group * n.out_channels() + i;
          sum.push(value(dy, n.out, out, co),
                   w[weight_offset(n, kh, kw, ci, co)]);
        }
      });
      dx[offset(n.in, in, channel)] = sum.total();
    }
  });
}

void conv2d_weight_gradient(const ConvolutionSizes& n, const float* x,
                            const float* dy, float* dw) {
  for_taps(n.kernel_height, n.kernel_width, [&](Index kh, Index kw) {
    for (std::size_t ci = 0; ci < n.in_channels(); ++ci) {
      for (std::size_t co = 0; co < n.out.channels; ++co) {
        std::size_t first_in = co / n.out_channels() * n.in_channels();
        SegmentSum sum;
        for_pixels(n.out, [&](const Pixel& out) {
          sum.push(value(x, n.in, input_of(n, out, kh, kw), first_in + ci),
                   dy[offset(n.out, out, co)]);
        });
        dw[weight_offset(n, kh, kw, ci, co)] = sum.total();
      }
    }
  });
}

}  // namespace quorate::reference
