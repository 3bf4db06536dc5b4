#include "client/worker/self_test.h"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/backends.h"

namespace quorate::worker {
namespace {

// A device that computes as the plain loops do and then spoils every result of
// a product and of a subtraction.
class FlawedBackend final : public Backend {
 public:
  using Flaw = std::function<float(float)>;
  explicit FlawedBackend(Flaw flaw) : flaw_(std::move(flaw)) {}

  DeviceInfo device() const override { return {"flawed", "for tests"}; }
  std::unique_ptr<Memory> allocate(std::size_t count) override {
    return sound_->allocate(count);
  }
  void upload(View to, std::span<const float> from) override {
    sound_->upload(to, from);
  }
  void upload_pixels(View to, std::span<const std::uint8_t> from) override {
    sound_->upload_pixels(to, from);
  }
  void download(ConstView from, std::span<float> to) override {
    sound_->download(from, to);
  }
  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, Accumulate accumulate) override {
    sound_->matmul(a, transpose_a, b, transpose_b, c, accumulate);
    spoil(c);
  }
  void conv2d(ConstView x, ConstView w, const Convolution& how,
              View y) override {
    sound_->conv2d(x, w, how, y);
  }
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override {
    sound_->conv2d_input_gradient(dy, w, how, dx);
  }
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override {
    sound_->conv2d_weight_gradient(x, dy, how, dw);
  }
  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    sound_->max_pool2d(x, how, y);
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    sound_->max_pool2d_gradient(x, dy, how, dx);
  }
  void add_bias(View x, ConstView bias) override { sound_->add_bias(x, bias); }
  void sum_rows(ConstView x, View y) override { sound_->sum_rows(x, y); }
  float sum(ConstView x) override { return sound_->sum(x); }
  void relu(ConstView x, View y) override { sound_->relu(x, y); }
  void relu_gradient(ConstView x, ConstView dy, View dx) override {
    sound_->relu_gradient(x, dy, dx);
  }
  void exp(ConstView x, View y) override { sound_->exp(x, y); }
  void log(ConstView x, View y) override { sound_->log(x, y); }
  void subtract(ConstView a, ConstView b, View y) override {
    sound_->subtract(a, b, y);
    spoil(y);
  }
  void softmax_cross_entropy(ConstView logits,
                             std::span<const std::uint8_t> targets, float scale,
                             View losses, View dlogits) override {
    sound_->softmax_cross_entropy(logits, targets, scale, losses, dlogits);
    spoil(dlogits);
  }
  std::size_t count_correct(ConstView logits,
                            std::span<const std::uint8_t> targets) override {
    return sound_->count_correct(logits, targets);
  }
  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    sound_->sgd(w, g, v, step);
  }
  bool all_finite(ConstView x) override { return sound_->all_finite(x); }

 private:
  void spoil(View view) {
    std::vector<float> values(view.shape.count());
    sound_->download(view, values);
    for (float& value : values) value = flaw_(value);
    sound_->upload(view, values);
  }

  Flaw flaw_;
  std::unique_ptr<Backend> sound_ = make_backend("reference");
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
