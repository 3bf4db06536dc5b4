// Philox (docs/numerics.md, section 8) for vectors. Included once per
// instruction set, between Highway's HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE; the toggle takes the place of #pragma once.
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11). The
// words equal those of base/random.h, which is the scalar form. Only dropout
// uses it.
#if defined(QUORATE_KERNELS_CPU_RANDOM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_RANDOM_INL_H_
#undef QUORATE_KERNELS_CPU_RANDOM_INL_H_
#else
#define QUORATE_KERNELS_CPU_RANDOM_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
// The baseline pass has no FMA and compiles to nothing.
#if HWY_TARGET != HWY_STATIC_TARGET

namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<std::uint32_t>;
using WordVec = hn::Vec<WordTag>;
// Words are 32 bits, as many to a vector as floats.
inline constexpr WordTag kW{};

// Both halves of the products of 32-bit words.
// Integers only: there is no rounding that could differ.
struct WideProduct {
  WordVec high, low;
};
// Highway multiplies even lanes only, so the odd ones are shifted down,
// multiplied and merged again.
HWY_INLINE WideProduct multiply_words(WordVec a, WordVec b) {
  const hn::RepartitionToWide<WordTag> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd =
      hn::MulEven(hn::BitCast(kW, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
  return {hn::OddEven(hn::BitCast(kW, odd),
                      hn::BitCast(kW, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(kW, hn::ShiftLeft<32>(odd)),
                      hn::BitCast(kW, even))};
}

// The words of the counters index, index + 1, ... of a stream in their order:
// four times as many as a vector has lanes.
HWY_INLINE void philox_words(std::uint64_t key, std::uint32_t stream,
                             std::uint32_t step, std::uint64_t index,
                             std::uint32_t* to) {
  const auto low = hn::Set(kW, static_cast<std::uint32_t>(index));
  const auto high = hn::Set(kW, static_cast<std::uint32_t>(index >> 32));
  // One counter per lane: c0 to c3 are its words, low word first.
  WordVec c0 = hn::Add(low, hn::Iota(kW, 0));
  // A true mask is -1: the carry.
  WordVec c1 = hn::Sub(high, hn::VecFromMask(kW, hn::Lt(c0, low)));
  WordVec c2 = hn::Set(kW, stream);
  WordVec c3 = hn::Set(kW, step);
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  // The multipliers and the key's steps are the published constants.
  for (int round = 0; round < 10; ++round) {
    const WideProduct p0 = multiply_words(c0, hn::Set(kW, 0xD2511F53U));
    const WideProduct p1 = multiply_words(c2, hn::Set(kW, 0xCD9E8D57U));
    c0 = hn::Xor(hn::Xor(p1.high, c1), hn::Set(kW, k0));
    c1 = p1.low;
    c2 = hn::Xor(hn::Xor(p0.high, c3), hn::Set(kW, k1));
    c3 = p0.low;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  // Lane i has the four words of counter index + i: they go side by side.
  hn::StoreInterleaved4(c0, c1, c2, c3, kW, to);
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
