// Sums in their fixed orders (docs/numerics.md, section 5), and the softmax
// row that is built on them. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reductions.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "base/arithmetic.h"
#include "kernels/cpu/elementary-inl.h"
#include "kernels/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

constexpr std::size_t kLanes = 32;       // of R1
constexpr std::size_t kRowSegment = 64;  // of R2

// Up to `lanes` values at x, the rest +0. A lane that starts at +0 never
// becomes -0, so adding the padding changes nothing.
HWY_INLINE FloatVec load_padded(const float* x, std::size_t count) {
  if (count >= hn::Lanes(kF)) return hn::LoadU(kF, x);
  return hn::MaskedLoad(hn::FirstN(kF, count), kF, x);
}

float block_sum(const float* x, std::size_t n) {
  constexpr std::size_t kVectors = kLanes / hn::MaxLanes(FloatTag());
  const std::size_t lanes = hn::Lanes(kF);
  FloatVec acc[kVectors];
  for (FloatVec& a : acc) a = hn::Zero(kF);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t u = 0; u < kVectors; ++u) {
      acc[u] = hn::Add(acc[u], hn::LoadU(kF, x + i + u * lanes));
    }
  }
  for (std::size_t u = 0; u < kVectors && i < n; ++u, i += lanes) {
    acc[u] = hn::Add(acc[u], load_padded(x + i, n - i));
  }
  float lane[kLanes];
  for (std::size_t u = 0; u < kVectors; ++u) {
    hn::StoreU(acc[u], kF, lane + u * lanes);
  }
  for (std::size_t h = kLanes / 2; h > 0; h /= 2) {
    for (std::size_t l = 0; l < h; ++l) lane[l] = lane[l] + lane[l + h];
  }
  return lane[0];
}

float sum(const float* x, std::size_t n) {
  PairSum total;
  for (std::size_t i = 0; i < n; i += kSumBlock) {
    total.push(block_sum(x + i, n - i < kSumBlock ? n - i : kSumBlock));
  }
  return total.total();
}

// The binary counter of base/arithmetic.h (PairSum) for many columns at once:
// partial[i] covers 2^i segments where bit i of `segments` is set.
void sum_columns(const float* x, std::size_t stride, std::size_t rows,
                 std::size_t n, float* y) {
  constexpr std::size_t kLevels = 58;  // 2^58 segments of 64 rows
  float partial[kLevels][kColumnChunk];
  float acc[kColumnChunk];
  const auto plus = [](FloatVec a, FloatVec b)
                        HWY_ATTR { return hn::Add(a, b); };
  const auto clear = [](FloatVec) HWY_ATTR { return hn::Zero(kF); };
  std::size_t segments = 0;
  for (std::size_t s = 0; s < rows; s += kRowSegment, ++segments) {
    std::size_t end = rows - s < kRowSegment ? rows : s + kRowSegment;
    map(x, acc, n, clear);
    for (std::size_t r = s; r < end; ++r)
      map(acc, x + r * stride, acc, n, plus);
    std::size_t level = 0;
    for (; (segments >> level & 1) != 0; ++level) {
      map(partial[level], acc, acc, n, plus);
    }
    map(acc, partial[level], n, [](FloatVec a) HWY_ATTR { return a; });
  }
  map(x, y, n, clear);
  bool empty = true;
  for (std::size_t level = 0; segments >> level != 0; ++level) {
    if ((segments >> level & 1) == 0) continue;
    if (empty) {
      map(partial[level], y, n, [](FloatVec a) HWY_ATTR { return a; });
    } else {
      map(partial[level], y, y, n, plus);
    }
    empty = false;
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

ReductionKernels::SoftmaxRow softmax_row(const float* x, std::size_t n,
                                         std::size_t target, float scale,
                                         float* dx) {
  float m = maximum(x, n);
  const FloatVec m_all = hn::Set(kF, m);
  map(x, dx, n,
      [=](FloatVec v) HWY_ATTR { return canonical_exp(hn::Sub(v, m_all)); });
  float s = sum(dx, n);
  float r = 1.0F / s;
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

constexpr ReductionKernels kTable = {block_sum, sum_columns, softmax_row};

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
