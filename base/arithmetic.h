// The primitives of canonical arithmetic in plain C++: single, correctly
// rounded binary32 operations, and the fixed orders of summation. Whoever needs
// bits that agree across machines calls these (docs/numerics.md, sections 2, 5
// and 7). The whole project is compiled with contraction off.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace quorate {

static_assert(std::numeric_limits<float>::is_iec559);

// The version of the arithmetic that units and results name.
inline constexpr std::uint32_t kArithmeticVersion = 1;

inline float fma(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
inline float float_of_bits(std::uint32_t u) {
  return std::bit_cast<float>(u);
}

// A NaN's payload and sign carry no meaning: every NaN is hashed and stored as
// this one.
inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000;
inline std::uint32_t canonical_bits(float x) {
  return x == x ? bits(x) : kCanonicalNan;
}

// Adds neighbours until one value is left; an odd last one passes unchanged.
// Streams: holds at most 64 partial sums. No value pushed: +0.
class PairSum {
 public:
  void push(float value);
  float total() const;

 private:
  std::array<float, 64> partials_{};  // the one of level i covers 2^i values
  std::uint64_t count_ = 0;           // its set bits say which are in use
};

// R1: 32 lanes over blocks of 1024, a fixed tree, then pairs.
float sum_r1(std::span<const float> x);
float dot_r1(std::span<const float> x, std::span<const float> y);

// Combining values of workunits: chains of 64 from +0, then pairs. Used for
// the mean of a round, element by element, in order of unit index.
class ChainSum {
 public:
  void push(float value);
  float total() const;

 private:
  PairSum pairs_;
  float chain_ = 0.0F;
  std::uint32_t length_ = 0;
};

// True if no element is NaN or infinite.
bool all_finite(std::span<const float> x);

}  // namespace quorate
