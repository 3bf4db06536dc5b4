// Sums in their fixed orders (docs/numerics.md, section 5), and the softmax
// rows that are built on them. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/reductions.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/vector/elementary-inl.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/sums-inl.h"

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

// The greatest of what value(vector) gives, `first` among them. The sign of a
// zero and NaN may differ from the scalar order; the softmax row makes both
// harmless.
template <class Value>
HWY_INLINE float maximum(float first, std::size_t n, const Value& value) {
  constexpr std::size_t kVectors = 4;  // each waits for its last comparison
  const std::size_t lanes = hn::Lanes(kF);
  FloatVec m[kVectors];
  for (FloatVec& most : m) most = hn::Set(kF, first);
  const auto greater = [](FloatVec a, FloatVec b) HWY_ATTR {
    return hn::IfThenElse(hn::Gt(a, b), a, b);
  };
  std::size_t i = 0;
  for (; i + kVectors * lanes <= n; i += kVectors * lanes) {
    for (std::size_t u = 0; u < kVectors; ++u) {
      m[u] = greater(value(WholeVector{i + u * lanes}), m[u]);
    }
  }
  for_vectors(i, n, [&](auto at) HWY_ATTR {
    m[0] = at.keep(greater(value(at), m[0]), m[0]);
  });
  m[0] = greater(greater(m[0], m[1]), greater(m[2], m[3]));
  return hn::GetLane(hn::MaxOfLanes(kF, m[0]));
}

// e[j] = exp(sub(x[j], m)), where m is their maximum; the sum of e.
HWY_INLINE float exponentials(const float* x, std::size_t n, float m,
                              float* e) {
  const FloatVec m_all = hn::Set(kF, m);
  return sum_blocks(n, [=](FloatVec* acc, auto at) HWY_ATTR {
    const FloatVec value = canonical_exp(hn::Sub(at.load(x), m_all));
    at.store(value, e);
    acc[0] = at.keep(hn::Add(acc[0], value), acc[0]);
  });
}

HWY_INLINE void multiply(float factor, std::size_t n, float* x) {
  const FloatVec all = hn::Set(kF, factor);
  map(x, x, n, [=](FloatVec v) HWY_ATTR { return hn::Mul(v, all); });
}

HWY_INLINE void clear(std::size_t first, std::size_t end, float* x) {
  for_vectors(first, end, [=](auto at) HWY_ATTR { at.store(hn::Zero(kF), x); });
}

ReductionKernels::SoftmaxRow softmax_row(const float* x, std::size_t n,
                                         std::size_t target, float scale,
                                         float* dx) {
  const float m =
      maximum(x[0], n, [=](auto at) HWY_ATTR { return at.load(x); });
  const float s = exponentials(x, n, m, dx);
  const float r = 1.0F / s;
  float at_target = (dx[target] * r - 1.0F) * scale;
  const FloatVec r_all = hn::Set(kF, r);
  const FloatVec scale_all = hn::Set(kF, scale);
  // Off the target, sub(p, +0) is p itself.
  map(dx, dx, n, [=](FloatVec e) HWY_ATTR {
    return hn::Mul(hn::Mul(e, r_all), scale_all);
  });
  dx[target] = at_target;
  return {s, m};
}

void attention_row(float* row, std::size_t count, std::size_t length,
                   float scale) {
  const FloatVec scale_all = hn::Set(kF, scale);
  const float m = maximum(row[0] * scale, count, [=](auto at) HWY_ATTR {
    const FloatVec score = hn::Mul(at.load(row), scale_all);
    at.store(score, row);
    return score;
  });
  multiply(1.0F / exponentials(row, count, m, row), count, row);
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
