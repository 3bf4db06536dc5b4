#include "base/arithmetic.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"

namespace quorate {
namespace {

constexpr std::uint64_t kGoldenKey = 0x85a308d3243f6a88;  // low word first
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> uniform_values(std::size_t n, std::uint32_t stream) {
  RandomStream words(kGoldenKey, stream, 0);
  std::vector<float> values(n);
  for (float& value : values) value = uniform11(words.next());
  return values;
}

// The pair level written the obvious way: whole levels, one after another.
float pair_level(std::vector<float> values) {
  while (values.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      next.push_back(i + 1 < values.size() ? values[i] + values[i + 1]
                                           : values[i]);
    }
    values = next;
  }
  return values.empty() ? 0.0F : values[0];
}

}  // namespace

TEST_CASE("R1 gives the golden sum of the specification") {
  CHECK(sum_r1(uniform_values(100003, 3)) == 0x1.2f8154p+7F);
}

TEST_CASE("a dot product with ones is the sum") {
  // given sizes around a block's edges
  for (std::size_t n : {0U, 1U, 31U, 33U, 1023U, 1024U, 1025U, 5000U}) {
    CAPTURE(n);
    std::vector<float> x = uniform_values(n, 9);
    std::vector<float> ones(n, 1.0F);
    CHECK(bits(dot_r1(x, ones)) == bits(sum_r1(x)));
  }
}

TEST_CASE("streaming pair sums equal the levels written out") {
  for (std::size_t n = 0; n < 70; ++n) {
    CAPTURE(n);
    std::vector<float> x = uniform_values(n, 5);
    PairSum sum;
    for (float value : x) sum.push(value);
    CHECK(bits(sum.total()) == bits(pair_level(x)));
  }
}

TEST_CASE("chain sums are chains of 64, then pairs") {
  for (std::size_t n : {0U, 1U, 63U, 64U, 65U, 128U, 200U}) {
    CAPTURE(n);
    std::vector<float> x = uniform_values(n, 6);
    ChainSum sum;
    std::vector<float> chains;
    for (std::size_t i = 0; i < n; ++i) {
      sum.push(x[i]);
      if (i % 64 == 0) chains.push_back(0.0F);
      chains.back() = chains.back() + x[i];
    }
    CHECK(bits(sum.total()) == bits(pair_level(chains)));
  }
}

TEST_CASE("fma rounds once") {
  // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24; a rounded product loses it
  float x = 1.0F + 0x1p-12F;
  CHECK(fma(x, x, -1.0F - 0x1p-11F) == 0x1p-24F);
  CHECK(x * x - 1.0F - 0x1p-11F == 0.0F);
}

TEST_CASE("every NaN has the same canonical bits") {
  CHECK(canonical_bits(float_of_bits(0xffc00001)) == 0x7fc00000);
  CHECK(canonical_bits(kNan) == kCanonicalNan);
  CHECK(canonical_bits(-0.0F) == 0x80000000);
  CHECK(canonical_bits(kInfinity) == 0x7f800000);
}

TEST_CASE("one value that is not finite is found") {
  std::vector<float> x(100, 1.0F);
  CHECK(all_finite(x));
  CHECK(all_finite({}));
  for (float bad : {kInfinity, -kInfinity, kNan}) {
    x[57] = bad;
    CHECK_FALSE(all_finite(x));
  }
}

}  // namespace quorate
