#include "kernels/elementary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"

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
  for (std::uint32_t pattern = 1; pattern < 0x7f800000U; pattern += 65537) {
    float x = float_of_bits(pattern);
    CAPTURE(x);
    REQUIRE(ulps(canonical_log(x), std::log(static_cast<double>(x))) < 1.21);
  }
}

// The greatest error over a sweep of both signs, in units in the last place.
template <class F, class G>
double greatest_error(F found, G exact, float least, float most) {
  double greatest = 0;
  for (float x = least; x <= most; x *= 1.00037F) {
    for (float at : {x, -x}) {
      greatest =
          std::max(greatest, ulps(found(at), exact(static_cast<double>(at))));
    }
  }
  return greatest;
}

TEST_CASE("tanh, sigmoid and erf are within their bounds") {
  CHECK(greatest_error(
            canonical_tanh, [](double x) { return std::tanh(x); }, 1e-30F,
            20.0F) < 1.32);
  CHECK(greatest_error(
            canonical_sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); },
            1e-30F, 80.0F) < 2.1);
  CHECK(greatest_error(
            canonical_erf, [](double x) { return std::erf(x); }, 1e-30F,
            10.0F) < 1.21);
}

// Near -2.6 the relative error of 1 + erf is large; the absolute one counts.
TEST_CASE("gelu and silu are as near as a network needs") {
  for (float x = -12.0F; x < 12.0F; x += 0.0071F) {
    double exact = x;
    CAPTURE(x);
    REQUIRE(std::abs(canonical_gelu(x) -
                     exact * 0.5 * (1 + std::erf(exact / std::sqrt(2.0)))) <
            3e-7 * std::max(1.0, std::abs(exact)));
    REQUIRE(std::abs(canonical_silu(x) - exact / (1 + std::exp(-exact))) <
            3e-7 * std::max(1.0, std::abs(exact)));
  }
}

TEST_CASE("gradients are the slopes of their functions") {
  auto check_slope = [](float (*f)(float), float (*gradient)(float, float)) {
    for (float x = -6.0F; x < 6.0F; x += 0.173F) {
      constexpr float kStep = 0x1p-7F;
      double slope = (static_cast<double>(f(x + kStep)) -
                      static_cast<double>(f(x - kStep))) /
                     (2.0 * kStep);
      CAPTURE(x);
      REQUIRE(std::abs(gradient(x, 2.0F) / 2.0 - slope) < 1e-4);
    }
  };
  check_slope(canonical_tanh, canonical_tanh_gradient);
  check_slope(canonical_sigmoid, canonical_sigmoid_gradient);
  check_slope(canonical_gelu, canonical_gelu_gradient);
  check_slope(canonical_silu, canonical_silu_gradient);
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
