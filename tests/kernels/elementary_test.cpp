#include "kernels/elementary.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Distance in units in the last place of the exact value, subnormals included.
double ulps(float found, double exact) {
  double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

}  // namespace

TEST_CASE("exp is within 0.91 units of the exact value") {
  for (float x = -103.0F; x < 88.0F; x += 0.00390625F * 1.37F) {
    CAPTURE(x);
    REQUIRE(ulps(canonical_exp(x), std::exp(static_cast<double>(x))) < 0.91);
  }
}

TEST_CASE("log is within 1.21 units of the exact value") {
  for (std::uint32_t pattern = 1; pattern < kInfinity; pattern += 65537) {
    float x = float_of_bits(pattern);
    CAPTURE(x);
    REQUIRE(ulps(canonical_log(x), std::log(static_cast<double>(x))) < 1.21);
  }
}

TEST_CASE("exp and log at the ends of their range") {
  CHECK(canonical_exp(0.0F) == 1.0F);
  CHECK(canonical_exp(-0.0F) == 1.0F);
  CHECK(canonical_exp(1000.0F) == kInf);
  CHECK(canonical_exp(kInf) == kInf);
  CHECK(bits(canonical_exp(-kInf)) == 0);
  CHECK(std::isnan(canonical_exp(NAN)));
  CHECK(bits(canonical_log(1.0F)) == 0);
  CHECK(canonical_log(kInf) == kInf);
  CHECK(canonical_log(0.0F) == -kInf);
  CHECK(canonical_log(-0.0F) == -kInf);
  CHECK(std::isnan(canonical_log(-1.0F)));
  CHECK(std::isnan(canonical_log(-kInf)));
  CHECK(std::isnan(canonical_log(NAN)));
}

}  // namespace quorate
