// Matrix products and convolutions on a GPU: how one is cut into tiles and
// parts of its sums, and the launches that follow.
//
// Called by the GPU backend and gpu/attention.cpp. One launch makes all results
// if there are enough tiles to keep the device busy; else the sum over k is
// split into its segments of 256, which different groups make and a second
// kernel adds in order. Either way the bits are the same.
//
// Rejected: splitting k into as many parts as a device has room for. How sums
// are grouped would then depend on the device.
#pragma once

#include <cstdint>

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

// By the numbers of kernels/gpu/device/operands.h: which of a and b is
// transposed, or which pass of a convolution the factors are read for.
enum class ProductKind : std::uint32_t {
  ab,
  atb,
  abt,
  convolution,
  convolution_dx,
  convolution_dw,
};

// How the results are shared among groups.
// How a product is launched: tiles of 64 or 128 rows and columns, or item by
// item; in one go or segment by segment.
struct ProductPlan {
  bool is_narrow = false;  // one item per result, no tiles
  std::uint32_t tile = 64;
  std::uint32_t segments = 1;            // of k
  std::uint32_t segments_per_group = 1;  // all, or their sums are added later
  std::uint32_t segments_per_round = 1;  // that memory is taken for
  std::uint64_t groups_per_part = 1;

  // True if sums of segments go through memory (kernel add_segments).
  bool is_split() const { return segments_per_group < segments; }
};
// compute_units: of the device. Pure, and tested as such. The plan changes no
// bits. Memory for partial sums is at most 64 MiB, or one segment's.
ProductPlan plan_product(const QProduct& p, ProductKind kind,
                         std::uint32_t compute_units);

// A product's places; what follows it, and what that reads.
// Borrowed; c must not overlap a or b.
struct ProductPlaces {
  GpuPlace a, b, c;
  GpuPlace bias, addend;  // c, if there is none
  QEpilogue then{};
};
// Computes c, then what follows the product. n is read for convolutions only.
// Does nothing if there are no results; a depth of 0 gives +0. Throws io.
void run_product(GpuQueue& queue, ProductKind kind, const QProduct& p,
                 const QConvolution& n, const ProductPlaces& places);

// A division by multiplying and shifting, for numbers below 2^31 (Granlund and
// Montgomery 1994): index arithmetic of a convolution divides for each element,
// and GPUs have no integer division. divisor: at least 1.
QDivisor divisor_of(std::uint32_t divisor);

// `value` as a kernel takes it. Throws unsupported if it is 2^31 or more, with
// the advice to use the CPU: no kernel counts further along one direction.
std::uint32_t gpu_word(std::size_t value);

// The three passes of docs/numerics.md, section 4; places are named in the
// order of the arguments. Only the first has an epilogue.
void gpu_conv2d(GpuQueue& queue, const ConvolutionSizes& n,
                const ProductPlaces& x_w_y);
// stride x stride products, one for each phase of the input pixels.
void gpu_conv2d_input_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                               const ProductPlaces& dy_w_dx);
void gpu_conv2d_weight_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                                const ProductPlaces& x_dy_dw);

}  // namespace quorate
