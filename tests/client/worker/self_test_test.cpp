#include "client/worker/checks/self_test.h"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/support/forwarding_backend.h"

namespace quorate::worker {
namespace {

// A device that computes as the plain loops do and then spoils every result of
// a product and of a subtraction.
class FlawedBackend final : public test::ForwardingBackend {
 public:
  using Flaw = std::function<float(float)>;
  explicit FlawedBackend(Flaw flaw)
      : ForwardingBackend(make_backend("reference")), flaw_(std::move(flaw)) {}

  DeviceInfo device() const override { return {"flawed", "for tests"}; }
  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override {
    to().matmul(a, transpose_a, b, transpose_b, c, then);
    spoil(c);
  }
  void subtract(ConstView a, ConstView b, View y) override {
    to().subtract(a, b, y);
    spoil(y);
  }
  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    to().softmax_cross_entropy(logits, targets, scale, losses, dlogits);
    spoil(dlogits);
  }

 private:
  void spoil(View view) {
    std::vector<float> values(view.shape.count());
    to().download(view, values);
    for (float& value : values) value = flaw_(value);
    to().upload(view, values);
  }

  Flaw flaw_;
};

std::vector<std::string> failed_primitives(FlawedBackend::Flaw flaw) {
  FlawedBackend backend(std::move(flaw));
  std::vector<std::string> failed;
  for (const TestResult& result : test_primitives(backend)) {
    if (!result.passed) failed.push_back(result.name);
    CHECK(result.passed == result.found.empty());
  }
  return failed;
}

}  // namespace

TEST_CASE("a sound device passes everything") {
  FlawedBackend backend([](float x) { return x; });
  require_primitives(backend);
  for (const TestResult& result : test_device(backend)) {
    CAPTURE(result.name);
    CAPTURE(result.found);
    CHECK(result.passed);
  }
}

TEST_CASE("a device that flushes subnormals to zero is found out") {
  auto flush = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? 0.0F : x;
  };
  CHECK(failed_primitives(flush).size() == 5);
  FlawedBackend backend(flush);
  CHECK_THROWS_WITH_AS(require_primitives(backend),
                       doctest::Contains("device \"flawed\": fma 00000001"),
                       Error);
}

TEST_CASE("a device that loses the sign of zero is found out") {
  CHECK(failed_primitives([](float x) { return x == 0 ? 0.0F : x; }) ==
        std::vector<std::string>{"-0 - 0"});
}

TEST_CASE("a device whose division is off by one bit is found out") {
  auto round_up = [](float x) {
    return x > 0.01F && x < 0.4F ? std::nextafter(x, 1.0F) : x;
  };
  CHECK(failed_primitives(round_up).size() == 8);
}

TEST_CASE("a flaw within a training step fails the unit") {
  FlawedBackend backend(
      [](float x) { return std::fabs(x) > 0.7F ? x * 1.0000001F : x; });
  std::vector<TestResult> results = test_device(backend);
  CHECK(results.back().name == "training unit");
  CHECK_FALSE(results.back().passed);
}

}  // namespace quorate::worker
