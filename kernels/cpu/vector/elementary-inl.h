// The functions of kernels/elementary-inl.h for vectors, and loops over arrays
// with a masked last vector. Included once per instruction set, between
// Highway's HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE; the toggle takes the
// place of #pragma once.
//
// A vector has as many lanes as the instruction set gives floats (8 or 16); an
// operation on it is the scalar one in each lane, with the same rounding.
#if defined(QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#undef QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#else
#define QUORATE_KERNELS_CPU_ELEMENTARY_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "base/arithmetic.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// kF and kI name the vector types in Highway's calls; both have as many lanes
// as the instruction set's registers hold.
using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;

inline constexpr FloatTag kF{};
inline constexpr IntTag kI{};

// All lanes hold the number with this bit pattern.
HWY_INLINE FloatVec constant(std::uint32_t pattern) {
  return hn::BitCast(kF, hn::Set(kI, static_cast<std::int32_t>(pattern)));
}
// All lanes hold this integer.
HWY_INLINE IntVec integer(std::uint32_t value) {
  return hn::Set(kI, static_cast<std::int32_t>(value));
}

// kernels/primitives.h for vectors: the same names, so that
// kernels/elementary-inl.h compiles to a function of a vector. Conditions are
// masks here, and q_select takes both sides.
// Left defined for the rest of the source that includes this: only loops of
// vectors follow.
#define Q_FUNCTION HWY_INLINE
#define Q_FLOAT FloatVec
#define Q_INT IntVec
#define q_constant(p) constant(p)
#define q_integer(p) integer(p)
#define q_fma(a, b, c) hn::MulAdd((a), (b), (c))
#define q_add(a, b) hn::Add((a), (b))
#define q_sub(a, b) hn::Sub((a), (b))
#define q_mul(a, b) hn::Mul((a), (b))
#define q_div(a, b) hn::Div((a), (b))
#define q_sqrt(a) hn::Sqrt(a)
#define q_negate(a) hn::Neg(a)
#define q_bits(x) hn::BitCast(kI, (x))
#define q_from_bits(i) hn::BitCast(kF, (i))
#define q_to_float(i) hn::ConvertTo(kF, (i))
#define q_select(condition, a, b) hn::IfThenElse((condition), (a), (b))
#define q_less(a, b) hn::Lt((a), (b))
#define q_less_equal(a, b) hn::Le((a), (b))
#define q_equal(a, b) hn::Eq((a), (b))
#define q_int_add(a, b) hn::Add((a), (b))
#define q_int_sub(a, b) hn::Sub((a), (b))
#define q_int_and(a, b) hn::And((a), (b))
#define q_int_or(a, b) hn::Or((a), (b))
// n is a constant here: Highway takes it as a template argument.
#define q_shift_left(a, n) hn::ShiftLeft<n>(a)
#define q_shift_right(a, n) hn::ShiftRight<n>(a)

#include "kernels/elementary-inl.h"

// y[i] = f(x[i]) for n elements; lanes beyond n are computed on zeros and
// dropped. f takes and returns a FloatVec. y may be x. No alignment is needed.
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
// y or x may be z: a vector is loaded before it is stored.
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
