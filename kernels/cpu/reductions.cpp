// Sums in their fixed orders (docs/numerics.md, section 5), and the softmax
// rows that are built on them. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reductions.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/elementary-inl.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// A lane that starts at +0 never becomes -0 by adding, so the +0 that loads
// give beyond the end change nothing.
template <class At>
HWY_INLINE void add_elements(const float* x, FloatVec* acc, const At& at) {
  acc[0] = hn::Add(acc[0], at.load(x));
}

// It may by adding products.
template <class At>
HWY_INLINE void add_products(const float* x, const float* y, FloatVec* acc,
                             const At& at) {
  acc[0] = at.keep(hn::MulAdd(at.load(x), at.load(y), acc[0]), acc[0]);
}

float block_sum(const float* x, std::size_t n) {
  float value[1];
  block_values(
      0, n, [=](FloatVec* acc, auto at) HWY_ATTR { add_elements(x, acc, at); },
      value);
  return value[0];
}

float block_squares(const float* x, std::size_t n) {
  float value[1];
  block_values(
      0, n,
      [=](FloatVec* acc, auto at) HWY_ATTR { add_products(x, x, acc, at); },
      value);
  return value[0];
}

float sum(const float* x, std::size_t n) {
  return sum_blocks(
      n, [=](FloatVec* acc, auto at) HWY_ATTR { add_elements(x, acc, at); });
}

float dot(const float* x, const float* y, std::size_t n) {
  return sum_blocks(
      n, [=](FloatVec* acc, auto at) HWY_ATTR { add_products(x, y, acc, at); });
}

void segment_sums(const float* x, std::size_t stride, std::size_t rows,
                  std::size_t cols, float* to) {
  for_segments(rows, [&](std::size_t first, std::size_t count,
                         std::size_t i) HWY_ATTR {
    const float* from = x + first * stride;
    segment_sum<1>(count, cols,
                   [&](FloatVec* acc, std::size_t r, auto at)
                       HWY_ATTR { add_elements(from + r * stride, acc, at); },
                   {to + i * cols});
  });
}

void listed_segment_sums(const float* x, Indices ids, std::size_t cols,
                         float* to) {
  for_segments(ids.size(), [&](std::size_t first, std::size_t count,
                               std::size_t i) HWY_ATTR {
    segment_sum<1>(count, cols,
                   [&](FloatVec* acc, std::size_t r, auto at) HWY_ATTR {
                     add_elements(x + ids[first + r] * cols, acc, at);
                   },
                   {to + i * cols});
  });
}

void add_pairs(float* sums, std::size_t count, std::size_t cols) {
  const auto plus = [](FloatVec a, FloatVec b)
                        HWY_ATTR { return hn::Add(a, b); };
  for (std::size_t step = 1; step < count; step *= 2) {
    for (std::size_t i = 0; i + step < count; i += 2 * step) {
      float* to = sums + i * cols;
      map(to, to + step * cols, to, cols, plus);
    }
  }
}

// The sign of a zero and NaN may differ from the scalar order; the softmax row
// makes both harmless.
float maximum(const float* x, std::size_t n) {
  const std::size_t lanes = hn::Lanes(kF);
  float most = x[0];
  FloatVec m = hn::Set(kF, most);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    FloatVec v = hn::LoadU(kF, x + i);
    m = hn::IfThenElse(hn::Gt(v, m), v, m);
  }
  float lane[hn::MaxLanes(FloatTag())];
  hn::StoreU(m, kF, lane);
  for (std::size_t l = 0; l < lanes; ++l)
    most = lane[l] > most ? lane[l] : most;
  for (; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

// e[j] = exp(sub(x[j], m)) with the maximum m, and the sum of e.
ReductionKernels::SoftmaxRow exponentials(const float* x, std::size_t n,
                                          float* e) {
  float m = maximum(x, n);
  const FloatVec m_all = hn::Set(kF, m);
  map(x, e, n,
      [=](FloatVec v) HWY_ATTR { return canonical_exp(hn::Sub(v, m_all)); });
  return {sum(e, n), m};
}

ReductionKernels::SoftmaxRow softmax_row(const float* x, std::size_t n,
                                         std::size_t target, float scale,
                                         float* dx) {
  const ReductionKernels::SoftmaxRow row = exponentials(x, n, dx);
  float r = 1.0F / row.sum;
  float at_target = (dx[target] * r - 1.0F) * scale;
  const FloatVec r_all = hn::Set(kF, r);
  const FloatVec scale_all = hn::Set(kF, scale);
  // Off the target, sub(p, +0) is p itself.
  map(dx, dx, n, [=](FloatVec e) HWY_ATTR {
    return hn::Mul(hn::Mul(e, r_all), scale_all);
  });
  dx[target] = at_target;
  return row;
}

HWY_INLINE void multiply(float factor, std::size_t n, float* x) {
  const FloatVec all = hn::Set(kF, factor);
  map(x, x, n, [=](FloatVec v) HWY_ATTR { return hn::Mul(v, all); });
}

HWY_INLINE void clear(std::size_t first, std::size_t end, float* x) {
  for_vectors(first, end, [=](auto at) HWY_ATTR { at.store(hn::Zero(kF), x); });
}

void attention_row(float* row, std::size_t count, std::size_t length,
                   float scale) {
  multiply(scale, count, row);
  multiply(1.0F / exponentials(row, count, row).sum, count, row);
  clear(count, length, row);
}

void attention_slopes(const float* p, std::size_t count, std::size_t end,
                      float scale, float* row) {
  const FloatVec mean = hn::Set(kF, dot(row, p, count));
  const FloatVec scale_all = hn::Set(kF, scale);
  map(p, row, row, count, [=](FloatVec weight, FloatVec slope) HWY_ATTR {
    return hn::Mul(hn::Mul(weight, hn::Sub(slope, mean)), scale_all);
  });
  clear(count, end, row);
}

constexpr ReductionKernels kTable = {
    block_sum,     block_squares,       sum,       dot,
    segment_sums,  listed_segment_sums, add_pairs, softmax_row,
    attention_row, attention_slopes};

}  // namespace

const ReductionKernels& reduction_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const ReductionKernels& reduction_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::reduction_table()
                                       : N_AVX2::reduction_table();
}

}  // namespace quorate
#endif
