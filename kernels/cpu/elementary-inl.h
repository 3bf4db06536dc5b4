// Vector forms of kernels/elementary.h, and loops over arrays with a masked
// last vector. Included once per instruction set, between Highway's
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE; the toggle takes the place of
// #pragma once.
#if defined(QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#undef QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#else
#define QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/elementary.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;

inline constexpr FloatTag kF{};
inline constexpr IntTag kI{};

HWY_INLINE FloatVec constant(std::uint32_t pattern) {
  return hn::Set(kF, float_of_bits(pattern));
}
HWY_INLINE IntVec integer(std::uint32_t value) {
  return hn::Set(kI, static_cast<std::int32_t>(value));
}

template <std::size_t N>
HWY_INLINE FloatVec vector_polynomial(const std::uint32_t (&coefficients)[N],
                                      FloatVec x) {
  FloatVec sum = constant(coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) {
    sum = hn::MulAdd(sum, x, constant(coefficients[i]));
  }
  return sum;
}

// 2^k for k in [-126, 127].
HWY_INLINE FloatVec power_of_two(IntVec k) {
  return hn::BitCast(kF, hn::ShiftLeft<23>(hn::Add(k, integer(127))));
}

HWY_INLINE FloatVec vector_exp(FloatVec x) {
  const FloatVec least = hn::Set(kF, -104.0F);
  const FloatVec most = hn::Set(kF, 89.0F);
  FloatVec c = hn::IfThenElse(hn::Lt(x, least), least, x);
  c = hn::IfThenElse(hn::Gt(c, most), most, c);
  const FloatVec magic = constant(kRoundMagic);
  FloatVec t = hn::MulAdd(c, constant(kLog2E), magic);
  FloatVec n = hn::Sub(t, magic);
  FloatVec r = hn::NegMulAdd(n, constant(kLn2High), c);
  r = hn::NegMulAdd(n, constant(kLn2Low), r);
  FloatVec q = vector_polynomial(kExpCoefficients, r);
  IntVec k = hn::Sub(hn::BitCast(kI, t), integer(kRoundMagic));
  IntVec k1 = hn::ShiftRight<1>(k);
  return hn::Mul(hn::Mul(q, power_of_two(k1)), power_of_two(hn::Sub(k, k1)));
}

HWY_INLINE FloatVec vector_log(FloatVec x) {
  const FloatVec zero = hn::Zero(kF);
  IntVec ix = hn::BitCast(kI, x);
  // Signed comparison: negative inputs end as NaN whatever happens here.
  auto subnormal = hn::RebindMask(kF, hn::Lt(ix, integer(kLeastNormal)));
  FloatVec scaled =
      hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(kF, 0x1p23F)), x);
  IntVec d = hn::Sub(hn::BitCast(kI, scaled), integer(kSqrtHalf));
  IntVec e = hn::ShiftRight<23>(d);
  IntVec mantissa =
      hn::Add(hn::And(d, integer(0x007fffff)), integer(kSqrtHalf));
  FloatVec f = hn::Sub(hn::BitCast(kF, mantissa), hn::Set(kF, 1.0F));
  FloatVec ef = hn::Sub(hn::ConvertTo(kF, e),
                        hn::IfThenElseZero(subnormal, hn::Set(kF, 23.0F)));
  FloatVec p = vector_polynomial(kLogCoefficients, f);
  const FloatVec ln2_high = constant(kLn2High);
  FloatVec lo = hn::MulAdd(ef, constant(kLn2Low), hn::Mul(hn::Mul(f, f), p));
  FloatVec hi = hn::MulAdd(ef, ln2_high, f);
  FloatVec er = hn::Sub(f, hn::Sub(hi, hn::Mul(ef, ln2_high)));
  FloatVec y = hn::Add(hi, hn::Add(lo, er));
  const FloatVec infinity = constant(kInfinity);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Ge(x, zero), y, constant(kCanonicalNan));
  return hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
}

// y[i] = f(x[i]); lanes beyond n are computed on zeros and dropped.
template <class F>
HWY_INLINE void map(const float* x, float* y, std::size_t n, const F& f) {
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(f(hn::LoadU(kF, x + i)), kF, y + i);
  }
  if (i == n) return;
  auto mask = hn::FirstN(kF, n - i);
  hn::BlendedStore(f(hn::MaskedLoad(mask, kF, x + i)), mask, kF, y + i);
}

// z[i] = f(x[i], y[i]).
template <class F>
HWY_INLINE void map(const float* x, const float* y, float* z, std::size_t n,
                    const F& f) {
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(f(hn::LoadU(kF, x + i), hn::LoadU(kF, y + i)), kF, z + i);
  }
  if (i == n) return;
  auto mask = hn::FirstN(kF, n - i);
  FloatVec result =
      f(hn::MaskedLoad(mask, kF, x + i), hn::MaskedLoad(mask, kF, y + i));
  hn::BlendedStore(result, mask, kF, z + i);
}

}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
