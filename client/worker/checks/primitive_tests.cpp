// The primitives, through the operations that expose them one at a time.
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "client/worker/checks/self_test.h"

namespace quorate::worker {
namespace {

struct Triple {
  std::uint32_t a, b, c;
  std::uint32_t expected;  // fma(a, b, c)
};

// Stored answers, found with exact rational arithmetic.
constexpr Triple kFusedCases[] = {
    // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24: lost when the product is rounded.
    {0x3f800800, 0x3f800800, 0xbf801000, 0x33800000},
    // (1 + 2^-23)(1 - 2^-23) - 1 = -2^-46.
    {0x3f800001, 0x3f7ffffe, 0xbf800000, 0xa8800000},
    // The product overflows, the sum does not: 2^100 2^28 - 2^127 = 2^127.
    {0x71800000, 0x4d800000, 0xff000000, 0x7f000000},
    // 1 + 2^-23 + 2^-24 (1 - 2^-46): just below a tie, which a rounded product
    // would make of it.
    {0x33800001, 0x3f7ffffe, 0x3f800001, 0x3f800001},
    // Subnormals in and out: 2^-149 * 1 + 2^-149 = 2^-148.
    {0x00000001, 0x3f800000, 0x00000001, 0x00000002},
    // 2^-75 * 2^-75 = 2^-150: a tie between 0 and 2^-149, to even.
    {0x1a000000, 0x1a000000, 0x00000000, 0x00000000},
    // 1.5 * 2^-150 rounds up to the least subnormal.
    {0x1a400000, 0x1a000000, 0x00000000, 0x00000001},
    // The least normal, halved: a subnormal.
    {0x00800000, 0x3f000000, 0x00000000, 0x00400000},
};

std::string differs(std::uint32_t expected, float found) {
  return fmt::format("expected {:08x}, found {:08x}", expected,
                     canonical_bits(found));
}

TestResult compared(std::string name, std::uint32_t expected, float found) {
  bool passed = canonical_bits(found) == expected;
  return {std::move(name), passed, passed ? "" : differs(expected, found)};
}

Tensor tensor_of(Backend& backend, Shape shape,
                 const std::vector<float>& values) {
  Tensor tensor = backend.tensor(shape);
  backend.upload(tensor.view(), values);
  return tensor;
}

// fma(a, b, c): the product (c a) (1 b)^T begins with fma(c, 1, +0) = c.
float fused(Backend& backend, const Triple& triple) {
  Tensor left = tensor_of(backend, {1, 2},
                          {float_of_bits(triple.c), float_of_bits(triple.a)});
  Tensor right = tensor_of(backend, {2, 1}, {1.0F, float_of_bits(triple.b)});
  Tensor product = backend.tensor({1, 1});
  backend.matmul(left.view(), Transpose::no, right.view(), Transpose::no,
                 product.view());
  float value = 0;
  backend.download(product.view(), {&value, 1});
  return value;
}

float difference(Backend& backend, std::uint32_t a, std::uint32_t b) {
  Tensor x = tensor_of(backend, {1}, {float_of_bits(a)});
  Tensor y = tensor_of(backend, {1}, {float_of_bits(b)});
  Tensor z = backend.tensor({1});
  backend.subtract(x.view(), y.view(), z.view());
  float value = 0;
  backend.download(z.view(), {&value, 1});
  return value;
}

// div(1, n): the softmax of n equal logits.
float reciprocal(Backend& backend, std::size_t n) {
  Tensor logits = backend.tensor({1, n});
  Tensor losses = backend.tensor({1});
  Tensor gradient = backend.tensor({1, n});
  const std::uint32_t target = 0;
  backend.softmax_cross_entropy(logits.view(), {&target, 1}, 1.0F,
                                losses.view(), gradient.view());
  std::vector<float> values(n);
  backend.download(gradient.view(), values);
  return values[1];
}

void test_fused(Backend& backend, std::vector<TestResult>& results) {
  for (const Triple& triple : kFusedCases) {
    results.push_back(compared(
        fmt::format("fma {:08x} {:08x} {:08x}", triple.a, triple.b, triple.c),
        triple.expected, fused(backend, triple)));
  }
}

void test_differences(Backend& backend, std::vector<TestResult>& results) {
  results.push_back(compared("subnormal difference", 0x00000001,
                             difference(backend, 0x00800001, 0x00800000)));
  results.push_back(compared("subnormal kept", 0x00000003,
                             difference(backend, 0x00000003, 0x00000000)));
  results.push_back(compared("zero of equal values", 0x00000000,
                             difference(backend, 0x3f800000, 0x3f800000)));
  results.push_back(compared("-0 - 0", 0x80000000,
                             difference(backend, 0x80000000, 0x00000000)));
  results.push_back(compared("infinity - infinity", kCanonicalNan,
                             difference(backend, 0x7f800000, 0x7f800000)));
}

// Correctly rounded 1/n for every n whose quotient is not a power of two.
void test_divisions(Backend& backend, std::vector<TestResult>& results) {
  constexpr std::uint32_t kQuotients[][2] = {
      {3, 0x3eaaaaab},  {7, 0x3e124925},  {11, 0x3dba2e8c}, {41, 0x3cc7ce0c},
      {47, 0x3cae4c41}, {55, 0x3c94f209}, {61, 0x3c864b8a}, {97, 0x3c28e83f},
  };
  for (const auto& [n, expected] : kQuotients) {
    results.push_back(
        compared(fmt::format("1 / {}", n), expected, reciprocal(backend, n)));
  }
}

}  // namespace

std::vector<TestResult> test_primitives(Backend& backend) {
  std::vector<TestResult> results;
  test_fused(backend, results);
  test_differences(backend, results);
  test_divisions(backend, results);
  return results;
}

void require_primitives(Backend& backend) {
  for (const TestResult& result : test_primitives(backend)) {
    if (result.passed) continue;
    throw Error(ErrorKind::unsupported,
                fmt::format("self-test of device \"{}\": {}: {}; it does not "
                            "compute exactly and must not take part: check its "
                            "driver, or use another device",
                            backend.device().name, result.name, result.found));
  }
}

}  // namespace quorate::worker
