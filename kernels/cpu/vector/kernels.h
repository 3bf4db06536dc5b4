// Single-threaded inner loops, compiled once per instruction set. What the CPU
// backend calls on pieces of its views; everything here is host pointers.
// Definitions: docs/numerics.md.
//
// Every function is pure loops: no allocation, no lock, no exception, no global
// state. The caller has set the canonical floating-point mode (Tasks,
// ThreadPool) and has checked all sizes. Tables live as long as the program.
// Only ask for a set that this host has (missing_for); calling a function of
// another ends in an illegal instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/cpu/vector/instruction_set.h"
#include "kernels/shapes.h"

namespace quorate {

// Functions on arrays of n elements; outputs may be inputs.
struct ElementwiseKernels {
  // y = x / 255 as docs/numerics.md rounds it; x is bytes.
  void (*pixels)(const std::uint8_t* x, float* y, std::size_t n);
  // In the order of Function; gradients that no network uses are null.
  using Map = void (*)(const float* x, float* y, std::size_t n);
  using Gradient = void (*)(const float* x, const float* dy, float* dx,
                            std::size_t n);
  // functions[f]: y = f(x). gradients[f]: dx = dy f'(x).
  Map functions[kFunctionCount];
  Gradient gradients[kFunctionCount];
  // y = a + b; y = a - b; y = x factor.
  void (*add)(const float* a, const float* b, float* y, std::size_t n);
  void (*subtract)(const float* a, const float* b, float* y, std::size_t n);
  void (*scale)(const float* x, float factor, float* y, std::size_t n);
  // y = fma(rate, sub(mul(x, factor), y), y).
  void (*move_towards)(const float* x, float factor, float rate, float* y,
                       std::size_t n);
  // The elements from `first` on, a multiple of 4, of an array.
  void (*dropout)(const float* x, const Dropout& how, std::size_t first,
                  float* y, std::size_t n);
  // One step of an optimizer on n weights, as Backend::sgd and adamw.
  void (*sgd)(float* w, const float* g, float* v, const SgdStep& step,
              std::size_t n);
  void (*adamw)(float* w, const float* g, float* m, float* v,
                const AdamWStep& step, std::size_t n);
  // False if an element is NaN or infinite.
  bool (*all_finite)(const float* x, std::size_t n);
};
// One table per instruction set, made when the program was compiled.
const ElementwiseKernels& elementwise_kernels(InstructionSet set);

// Blocks of R1, and segments of R2.
// Both lengths are part of the arithmetic (section 5): they may not be tuned.
inline constexpr std::size_t kSumBlock = 1024;
inline constexpr std::size_t kRowSegment = 64;
// Segments of so many rows; no row at all is one, of +0.
inline constexpr std::size_t segment_count(std::size_t rows) {
  return rows == 0 ? 1 : (rows + kRowSegment - 1) / kRowSegment;
}

// Sums in fixed orders. "R1" runs along contiguous values, "R2" down the rows
// of a matrix, for every column apart.
struct ReductionKernels {
  // The value of one R1 block of n <= kSumBlock elements: of their sum, and of
  // the sum of their squares.
  // n may be 0: +0. Only the last block of an array has fewer than kSumBlock.
  float (*block_sum)(const float* x, std::size_t n);
  float (*block_squares)(const float* x, std::size_t n);
  // R1 of n elements.
  float (*sum)(const float* x, std::size_t n);
  float (*dot)(const float* x, const float* y, std::size_t n);

  // R2 in two steps. Each segment of rows, `stride` elements apart, becomes a
  // row of `to`: segment_count(rows) rows. Then `count` such rows are added in
  // pairs, into the first.
  // x: the first row; `to`: as many rows of `cols` as there are segments, which
  // may not overlap x. Neither needs alignment.
  void (*segment_sums)(const float* x, std::size_t stride, std::size_t rows,
                       std::size_t cols, float* to);
  // The same of the rows `ids` of a matrix x with `cols` columns.
  void (*listed_segment_sums)(const float* x, Indices ids, std::size_t cols,
                              float* to);
  // In place, in the order of section 5; the rows after the first are used up.
  void (*add_pairs)(float* sums, std::size_t count, std::size_t cols);

  // One row: dx = (softmax(x) - one-hot(target)) * scale; dx may be x. Returns
  // the sum s and the maximum m, from which the loss follows: log(s) + m -
  // x[target], where the caller must read x[target] before.
  struct SoftmaxRow {
    float sum;
    float maximum;
  };
  SoftmaxRow (*softmax_row)(const float* x, std::size_t n, std::size_t target,
                            float scale, float* dx);
  // A row of products of a query and `length` keys becomes its weights: the
  // softmax of the first `count` products times `scale`, then +0.
  void (*attention_row)(float* row, std::size_t count, std::size_t length,
                        float scale);
  // The slopes by the first `count` weights p become those by the products;
  // up to `end` +0 follows.
  void (*attention_slopes)(const float* p, std::size_t count, std::size_t end,
                           float scale, float* row);
};
const ReductionKernels& reduction_kernels(InstructionSet set);

// Of one image: n.in.images and n.out.images are not read.
// in and out arrays are dense (H,W,C); gradients overwrite dx.
struct PoolingKernels {
  // x (H,W,C) -> y (OH,OW,C); channels are the vectors.
  void (*max_pool)(const PoolingSizes& n, const Pooling& how, const float* x,
                   float* y);
  void (*max_pool_gradient)(const PoolingSizes& n, const Pooling& how,
                            const float* x, const float* dy, float* dx);
  void (*average_pool)(const PoolingSizes& n, const Pooling& how,
                       float reciprocal, const float* x, float* y);
  void (*average_pool_gradient)(const PoolingSizes& n, const Pooling& how,
                                float reciprocal, const float* dy, float* dx);
};
const PoolingKernels& pooling_kernels(InstructionSet set);

}  // namespace quorate
