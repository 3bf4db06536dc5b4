// Single-threaded inner loops, compiled once per instruction set. What the CPU
// backend calls on pieces of its views; everything here is host pointers.
// Definitions: docs/numerics.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/shapes.h"

namespace quorate {

// Functions on arrays of n elements; outputs may be inputs.
struct ElementwiseKernels {
  void (*pixels)(const std::uint8_t* x, float* y, std::size_t n);
  // In the order of Function; gradients that no network uses are null.
  using Map = void (*)(const float* x, float* y, std::size_t n);
  using Gradient = void (*)(const float* x, const float* dy, float* dx,
                            std::size_t n);
  Map functions[kFunctionCount];
  Gradient gradients[kFunctionCount];
  void (*add)(const float* a, const float* b, float* y, std::size_t n);
  void (*subtract)(const float* a, const float* b, float* y, std::size_t n);
  void (*sgd)(float* w, const float* g, float* v, const SgdStep& step,
              std::size_t n);
  bool (*all_finite)(const float* x, std::size_t n);
};
const ElementwiseKernels& elementwise_kernels(InstructionSet set);

// Blocks of R1, and the columns that sum_columns takes at a time.
inline constexpr std::size_t kSumBlock = 1024;
inline constexpr std::size_t kColumnChunk = 64;

struct ReductionKernels {
  // The value of one R1 block of n <= kSumBlock elements.
  float (*block_sum)(const float* x, std::size_t n);
  // R2 of n <= kColumnChunk columns, `stride` elements between rows.
  void (*sum_columns)(const float* x, std::size_t stride, std::size_t rows,
                      std::size_t n, float* y);
  // One row: dx = (softmax(x) - one-hot(target)) * scale. Returns the sum s
  // and the maximum m, from which the loss follows.
  struct SoftmaxRow {
    float sum;
    float maximum;
  };
  SoftmaxRow (*softmax_row)(const float* x, std::size_t n, std::size_t target,
                            float scale, float* dx);
};
const ReductionKernels& reduction_kernels(InstructionSet set);

// Of one image: n.in.images and n.out.images are not read.
struct PoolingKernels {
  void (*max_pool)(const PoolingSizes& n, const Pooling& how, const float* x,
                   float* y);
  void (*max_pool_gradient)(const PoolingSizes& n, const Pooling& how,
                            const float* x, const float* dy, float* dx);
};
const PoolingKernels& pooling_kernels(InstructionSet set);

}  // namespace quorate
