// Quotient and root by integers against the processor's own, which are
// correctly rounded.
#include <cmath>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/random.h"
#include "kernels/primitives.h"

namespace quorate {
namespace {

#include "kernels/division-inl.h"

// Zeros, subnormals, the edges of the normal numbers, one and its neighbours,
// all ones, infinity, NaN.
constexpr std::uint32_t kEdges[] = {
    0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003fffff,
    0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff,
    0x01000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fffffff,
    0x40000000, 0x40400000, 0x41200000, 0x5f000000, 0x7e7fffff,
    0x7effffff, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000};

std::uint32_t wrong_quotients = 0;
void try_quotient(float a, float b) {
  if (canonical_bits(canonical_quotient(a, b)) == canonical_bits(a / b)) return;
  if (++wrong_quotients > 5) return;
  CAPTURE(bits(a));
  CAPTURE(bits(b));
  CHECK(canonical_bits(canonical_quotient(a, b)) == canonical_bits(a / b));
}

}  // namespace

TEST_CASE("quotients by integers are those of the processor") {
  for (std::uint32_t a : kEdges) {
    for (std::uint32_t b : kEdges) {
      for (std::uint32_t sign : {0U, 0x80000000U}) {
        try_quotient(float_of_bits(a), float_of_bits(b | sign));
        try_quotient(float_of_bits(a | sign), float_of_bits(b));
      }
    }
  }
  RandomStream words(1, 2, 3);
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint32_t a = words.next();
    std::uint32_t b = words.next();
    try_quotient(float_of_bits(a), float_of_bits(b));
    // Near each other, and divisors of many ones, where rounding is hardest.
    try_quotient(float_of_bits(a), float_of_bits((a & 0x7f800000) | 0x7fffff));
    // Results around the least normal number.
    std::uint32_t small = (a & 0x007fffff) | (a >> 29) << 23;
    std::uint32_t large = (b & 0x007fffff) | (124 + (b >> 28)) << 23;
    try_quotient(float_of_bits(small), float_of_bits(large));
  }
  CHECK(wrong_quotients == 0);
}

TEST_CASE("roots by integers are those of the processor") {
  auto is_right = [](float x) {
    return canonical_bits(canonical_root(x)) == canonical_bits(std::sqrt(x));
  };
  for (std::uint32_t edge : kEdges) {
    CAPTURE(edge);
    CHECK(is_right(float_of_bits(edge)));
    CHECK(is_right(float_of_bits(edge | 0x80000000)));
  }
  std::uint32_t wrong = 0;
  // 4093: a step that meets all exponents and many mantissas of both parities.
  for (std::uint64_t i = 0; i < 1ULL << 32; i += 4093) {
    wrong += is_right(float_of_bits(static_cast<std::uint32_t>(i))) ? 0U : 1U;
  }
  CHECK(wrong == 0);
}

}  // namespace quorate
