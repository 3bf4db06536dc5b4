// The fixed orders of summation (docs/numerics.md, section 5) for vectors, over
// terms that the caller computes. Included once per instruction set, between
// Highway's HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE; the toggle takes the
// place of #pragma once.
#if defined(QUORATE_KERNELS_CPU_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_SUMS_INL_H_
#undef QUORATE_KERNELS_CPU_SUMS_INL_H_
#else
#define QUORATE_KERNELS_CPU_SUMS_INL_H_
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "base/arithmetic.h"
#include "kernels/cpu/vector/elementary-inl.h"
#include "kernels/cpu/vector/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET

// Elements [i, i + lanes) of arrays.
struct WholeVector {
  std::size_t i;

  HWY_INLINE FloatVec load(const float* x) const {
    return hn::LoadU(kF, x + i);
  }
  HWY_INLINE void store(FloatVec v, float* y) const {
    hn::StoreU(v, kF, y + i);
  }
  // The same interface as PartVector, which has a mask.
  HWY_INLINE FloatVec keep(FloatVec v, FloatVec) const { return v; }
};

// The first of them only: loads give +0 beyond.
struct PartVector {
  std::size_t i;
  hn::Mask<FloatTag> mask;

  HWY_INLINE FloatVec load(const float* x) const {
    return hn::MaskedLoad(mask, kF, x + i);
  }
  HWY_INLINE void store(FloatVec v, float* y) const {
    hn::BlendedStore(v, mask, kF, y + i);
  }
  // v, and what was there before beyond.
  HWY_INLINE FloatVec keep(FloatVec v, FloatVec before) const {
    return hn::IfThenElse(mask, v, before);
  }
};

// Calls f(vector) for vectors that cover [first, end).
template <class F>
HWY_INLINE void for_vectors(std::size_t first, std::size_t end, const F& f) {
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = first;
  for (; i + lanes <= end; i += lanes) f(WholeVector{i});
  if (i < end) f(PartVector{i, hn::FirstN(kF, end - i)});
}

// The tree of R1: adds the upper half of the lanes to the lower, until one is
// left.
template <class D>
HWY_INLINE float fold(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return fold(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// R1 of one block, `n` <= kSumBlock elements from `first` on, several sums at a
// time: term(acc, vector) adds the elements of a vector to their lanes' sums.
// A term must not change acc where the vector has no elements.
template <std::size_t kSums, class Term>
HWY_INLINE void block_values(std::size_t first, std::size_t n, const Term& term,
                             float (&values)[kSums]) {
  // The 32 lanes of R1 are some vectors' lanes side by side: 2 vectors of 16,
  // or 4 of 8. So the lanes' sums do not depend on the width.
  constexpr std::size_t kR1Lanes = 32;
  constexpr std::size_t kVectors = kR1Lanes / hn::MaxLanes(FloatTag());
  const std::size_t lanes = hn::Lanes(kF);
  FloatVec acc[kVectors][kSums];
  for (auto& vector : acc) {
    for (FloatVec& a : vector) a = hn::Zero(kF);
  }
  const std::size_t end = first + n;
  std::size_t i = first;
  for (; i + kR1Lanes <= end; i += kR1Lanes) {
    for (std::size_t u = 0; u < kVectors; ++u) {
      term(acc[u], WholeVector{i + u * lanes});
    }
  }
  for (std::size_t u = 0; u < kVectors && i < end; ++u, i += lanes) {
    if (i + lanes <= end) {
      term(acc[u], WholeVector{i});
    } else {
      term(acc[u], PartVector{i, hn::FirstN(kF, end - i)});
    }
  }
  // The tree: first whole vectors are added, then halves of the last.
  for (std::size_t s = 0; s < kSums; ++s) {
    for (std::size_t h = kVectors / 2; h > 0; h /= 2) {
      for (std::size_t u = 0; u < h; ++u) {
        acc[u][s] = hn::Add(acc[u][s], acc[u + h][s]);
      }
    }
    values[s] = fold(kF, acc[0][s]);
  }
}

// R1 of n elements.
// The blocks' values are added in pairs, as they come.
template <std::size_t kSums, class Term>
HWY_INLINE void sum_blocks(std::size_t n, const Term& term,
                           float (&values)[kSums]) {
  if (n <= kSumBlock) return block_values(0, n, term, values);
  // One binary counter for each sum; they hold log2 of the blocks' number.
  PairSum totals[kSums];
  for (std::size_t i = 0; i < n; i += kSumBlock) {
    block_values(i, n - i < kSumBlock ? n - i : kSumBlock, term, values);
    for (std::size_t s = 0; s < kSums; ++s) totals[s].push(values[s]);
  }
  for (std::size_t s = 0; s < kSums; ++s) values[s] = totals[s].total();
}

template <class Term>
HWY_INLINE float sum_blocks(std::size_t n, const Term& term) {
  float value[1];
  sum_blocks(n, term, value);
  return value[0];
}

// Calls f(first row, rows, index) for every segment of R2.
// No rows are one segment of none: its sum is +0.
template <class F>
HWY_INLINE void for_segments(std::size_t rows, const F& f) {
  for (std::size_t i = 0; i < segment_count(rows); ++i) {
    const std::size_t first = i * kRowSegment;
    f(first, rows - first < kRowSegment ? rows - first : kRowSegment, i);
  }
}

// R2 of one segment of up to kRowSegment rows, several sums at a time, for
// every column: term(acc, row, vector) adds the elements of a row.
template <std::size_t kSums, class Term>
HWY_INLINE void segment_sum(std::size_t rows, std::size_t cols,
                            const Term& term, float* const (&to)[kSums]) {
  // Four vectors of sums hide the latency of the additions.
  constexpr std::size_t kVectors = 4 / kSums;
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t c = 0;
  // Blocks of columns whose sums fit the registers, rows inside.
  for (; c + kVectors * lanes <= cols; c += kVectors * lanes) {
    FloatVec acc[kVectors][kSums];
    for (auto& vector : acc) {
      for (FloatVec& a : vector) a = hn::Zero(kF);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t u = 0; u < kVectors; ++u) {
        term(acc[u], r, WholeVector{c + u * lanes});
      }
    }
    for (std::size_t u = 0; u < kVectors; ++u) {
      for (std::size_t s = 0; s < kSums; ++s) {
        hn::StoreU(acc[u][s], kF, to[s] + c + u * lanes);
      }
    }
  }
  for_vectors(c, cols, [&](auto vector) HWY_ATTR {
    FloatVec acc[kSums];
    for (FloatVec& a : acc) a = hn::Zero(kF);
    for (std::size_t r = 0; r < rows; ++r) term(acc, r, vector);
    for (std::size_t s = 0; s < kSums; ++s) vector.store(acc[s], to[s]);
  });
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
