// Matrix products and convolutions on a GPU: how one is cut into tiles and
// parts of its sums, and the launches that follow.
#pragma once

#include <cstdint>

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

// By the numbers of kernels/gpu/device/operands.h.
enum class ProductKind : std::uint32_t {
  ab,
  atb,
  abt,
  convolution,
  convolution_dx,
  convolution_dw,
};

// How the results are shared among groups.
struct ProductPlan {
  bool is_narrow = false;  // one item per result, no tiles
  std::uint32_t tile = 64;
  std::uint32_t segments = 1;            // of k
  std::uint32_t segments_per_group = 1;  // all, or their sums are added later
  std::uint32_t segments_per_round = 1;  // that memory is taken for
  std::uint64_t groups_per_part = 1;

  bool is_split() const { return segments_per_group < segments; }
};
// compute_units: of the device. The plan changes no bits.
ProductPlan plan_product(const QProduct& p, ProductKind kind,
                         std::uint32_t compute_units);

// A product's places; what follows it, and what that reads.
struct ProductPlaces {
  GpuPlace a, b, c;
  GpuPlace bias, addend;  // c, if there is none
  QEpilogue then{};
};
void run_product(GpuQueue& queue, ProductKind kind, const QProduct& p,
                 const QConvolution& n, const ProductPlaces& places);

// For numbers below 2^31. divisor: at least 1.
QDivisor divisor_of(std::uint32_t divisor);

// `value` as a kernel takes it. Throws unsupported if it is 2^31 or more.
std::uint32_t gpu_word(std::size_t value);

// The three passes, of places without epilogue but the first.
void gpu_conv2d(GpuQueue& queue, const ConvolutionSizes& n,
                const ProductPlaces& x_w_y);
void gpu_conv2d_input_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                               const ProductPlaces& dy_w_dx);
void gpu_conv2d_weight_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                                const ProductPlaces& x_dy_dw);

}  // namespace quorate
