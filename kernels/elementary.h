// exp and log as canonical arithmetic defines them: docs/numerics.md, section
// 6. Scalar form; kernels/cpu/elementary-inl.h has the vector form.
#pragma once

#include <cstdint>
#include <limits>

#include "base/arithmetic.h"

namespace quorate {

// Coefficients by bit pattern, highest power first.
inline constexpr std::uint32_t kExpCoefficients[] = {
    0x3ab5112b, 0x3c091d81, 0x3d2aac7c, 0x3e2aaa48,
    0x3efffffe, 0x3f800000, 0x3f800000};
inline constexpr std::uint32_t kLogCoefficients[] = {
    0x3db2e3b4, 0xbe12824b, 0x3e18c292, 0xbe29ae98,
    0x3e4c6960, 0xbe80024d, 0x3eaaab7a, 0xbefffffd};
// log2(e); ln 2 in two parts, the high one short enough to multiply exactly.
inline constexpr std::uint32_t kLog2E = 0x3fb8aa3b;
inline constexpr std::uint32_t kLn2High = 0x3f317200;
inline constexpr std::uint32_t kLn2Low = 0x35bfbe8e;
// 1.5 * 2^23: added to a small number, it leaves the rounded integer in the
// low bits.
inline constexpr std::uint32_t kRoundMagic = 0x4b400000;
// sqrt(1/2): mantissas are taken from [sqrt(1/2), sqrt(2)).
inline constexpr std::uint32_t kSqrtHalf = 0x3f3504f3;
inline constexpr std::uint32_t kLeastNormal = 0x00800000;
inline constexpr std::uint32_t kInfinity = 0x7f800000;

template <std::size_t N>
float polynomial(const std::uint32_t (&coefficients)[N], float x) {
  float sum = float_of_bits(coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) {
    sum = fma(sum, x, float_of_bits(coefficients[i]));
  }
  return sum;
}

// Within 0.91 units in the last place, subnormal results included.
inline float canonical_exp(float x) {
  float c = x < -104.0F ? -104.0F : x;
  c = c > 89.0F ? 89.0F : c;
  float t = fma(c, float_of_bits(kLog2E), float_of_bits(kRoundMagic));
  float n = t - float_of_bits(kRoundMagic);
  float r = fma(n, -float_of_bits(kLn2High), c);
  r = fma(n, -float_of_bits(kLn2Low), r);
  float q = polynomial(kExpCoefficients, r);
  // 2^k in two factors, so that neither overflows nor underflows alone.
  std::uint32_t k = bits(t) - kRoundMagic;
  auto k1 = static_cast<std::uint32_t>(static_cast<std::int32_t>(k) >> 1);
  std::uint32_t k2 = k - k1;
  return q * float_of_bits((k1 + 127) << 23) * float_of_bits((k2 + 127) << 23);
}

// Within 1.21 units in the last place.
inline float canonical_log(float x) {
  std::uint32_t ix = bits(x);
  if (x == 0.0F) return -std::numeric_limits<float>::infinity();
  if (ix == kInfinity) return x;
  if (ix > kInfinity) return std::numeric_limits<float>::quiet_NaN();
  bool subnormal = ix < kLeastNormal;
  std::uint32_t d = bits(subnormal ? x * 0x1p23F : x) - kSqrtHalf;
  std::int32_t e = static_cast<std::int32_t>(d) >> 23;
  float f = float_of_bits((d & 0x007fffff) + kSqrtHalf) - 1.0F;
  float ef = static_cast<float>(e) - (subnormal ? 23.0F : 0.0F);
  float p = polynomial(kLogCoefficients, f);
  float lo = fma(ef, float_of_bits(kLn2Low), f * f * p);
  float hi = fma(ef, float_of_bits(kLn2High), f);
  float er = f - (hi - ef * float_of_bits(kLn2High));
  return hi + (lo + er);
}

}  // namespace quorate
