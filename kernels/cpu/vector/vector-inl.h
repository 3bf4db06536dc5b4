// Vectors of numbers, whole or partly filled. Included once per instruction
// set.
//
// Widths are constants here (kLanes), because tiles are arrays of vectors: for
// instruction sets whose width is only known at run time (SVE), these loops
// would not compile. Guards toggle as in sums-inl.h.
#if defined(QUORATE_KERNELS_CPU_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_VECTOR_INL_H
#undef QUORATE_KERNELS_CPU_VECTOR_INL_H
#else
#define QUORATE_KERNELS_CPU_VECTOR_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// kF names the vector type; kLanes floats fit one vector, 8 or 16.
constexpr hn::ScalableTag<float> kF;
using Vec = hn::Vec<hn::ScalableTag<float>>;

constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
// All lanes, or the first few: others are +0, and not stored.
// lanes: 1 to kLanes. Memory beyond is not read, so it may be none of ours.
HWY_INLINE Vec load_lanes(const float* from, std::size_t lanes) {
  return lanes == kLanes ? hn::LoadU(kF, from)
                         : hn::MaskedLoad(hn::FirstN(kF, lanes), kF, from);
}

// Memory beyond the first `lanes` is not touched.
HWY_INLINE void store_lanes(Vec value, std::size_t lanes, float* to) {
  if (lanes == kLanes) {
    hn::StoreU(value, kF, to);
  } else {
    hn::BlendedStore(value, hn::FirstN(kF, lanes), kF, to);
  }
}

// What follows a sum (Finish): null, and false, are left out.
// The order is that of section 3: bias, addend, relu. A NaN passes the relu,
// and -0 becomes +0.
HWY_INLINE Vec finished(Vec sum, const float* bias, const float* addend,
                        bool relu, std::size_t lanes) {
  if (bias) sum = hn::Add(sum, load_lanes(bias, lanes));
  if (addend) sum = hn::Add(sum, load_lanes(addend, lanes));
  const Vec zero = hn::Zero(kF);
  return relu ? hn::IfThenElse(hn::Le(sum, zero), zero, sum) : sum;
}

}  // namespace
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
