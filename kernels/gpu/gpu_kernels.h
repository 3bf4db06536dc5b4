// The kernels of kernels/gpu/device by name; quorate_NAME in the program. This
// list is the one place that numbers them: CUDA's table of functions
// (cuda/kernels.cu), OpenCL's lookups by name and the measured speeds in Slices
// all follow its order. A new kernel is its text in gpu/device and one line
// here.
//
// Where each is written: map to dropout in elementwise.h, the next two in
// sums.h, then softmax.h, columns.h, windows.h, tables.h, and the products in
// tile-inl.h (for tiles of 64 and of 128) and products.h.
//
// Parameters stand with each kernel's text: what GpuQueue::launch is given must
// have exactly their types and order, as neither OpenCL nor CUDA checks them at
// compile time. tests/kernels runs every kernel on every device there is.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#define QUORATE_GPU_KERNELS(X) \
  X(map)                       \
  X(map_gradient)              \
  X(add_arrays)                \
  X(subtract_arrays)           \
  X(scale_array)               \
  X(move_towards)              \
  X(add_bias)                  \
  X(pixels)                    \
  X(find_not_finite)           \
  X(sgd)                       \
  X(adamw)                     \
  X(dropout)                   \
  X(block_sums)                \
  X(row_means)                 \
  X(softmax_cross_entropy)     \
  X(find_correct)              \
  X(causal_softmax)            \
  X(causal_softmax_gradient)   \
  X(segment_sums)              \
  X(add_row_pairs)             \
  X(deviations)                \
  X(normalize_pixels)          \
  X(normalize_pixels_gradient) \
  X(spread_pixels)             \
  X(max_pool)                  \
  X(max_pool_gradient)         \
  X(average_pool)              \
  X(average_pool_gradient)     \
  X(embedding)                 \
  X(chain_sums)                \
  X(add_chains)                \
  X(product_ab_64)             \
  X(product_atb_64)            \
  X(product_abt_64)            \
  X(convolution_64)            \
  X(convolution_dx_64)         \
  X(convolution_dw_64)         \
  X(product_ab_128)            \
  X(product_atb_128)           \
  X(product_abt_128)           \
  X(convolution_128)           \
  X(convolution_dx_128)        \
  X(convolution_dw_128)        \
  X(narrow_convolution)        \
  X(narrow_convolution_dx)     \
  X(narrow_convolution_dw)     \
  X(add_segments)

namespace quorate {

// One value for each line above, from 0 on.
enum class GpuKernel : std::size_t {
#define QUORATE_NAME(name) name,
  QUORATE_GPU_KERNELS(QUORATE_NAME)
#undef QUORATE_NAME
};

// Names as the device's program has them; literals, so each ends with a zero
// byte and its data() may go to C.
inline constexpr std::array kGpuKernelNames = {
#define QUORATE_NAME(name) std::string_view("quorate_" #name),
    QUORATE_GPU_KERNELS(QUORATE_NAME)
#undef QUORATE_NAME
};

// Of a value of the enum only.
inline constexpr std::string_view name_of(GpuKernel kernel) {
  return kGpuKernelNames[static_cast<std::size_t>(kernel)];
}

}  // namespace quorate
