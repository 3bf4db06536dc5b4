#include "workunits/training/optimizer.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/random.h"
#include "kernels/devices/backends.h"

namespace quorate {
namespace {

constexpr OptimizerOptions kAdamW = {.learning_rate = 0.01F,
                                     .weight_decay = 0.1F,
                                     .kind = OptimizerKind::adamw,
                                     .beta1 = 0.9F,
                                     .beta2 = 0.99F,
                                     .epsilon = 1e-8F};

std::vector<float> random_values(std::size_t count, std::uint32_t stream) {
  RandomStream words(/*key=*/1, stream, /*step=*/0);
  std::vector<float> values(count);
  for (float& value : values) value = uniform11(words.next());
  return values;
}

// Loshchilov and Hutter, "Decoupled weight decay regularization" (2019),
// algorithm 2, in binary64.
struct AdamW {
  double weight, first = 0, second = 0;

  void step(const OptimizerOptions& o, double gradient, int t) {
    first = o.beta1 * first + (1.0 - o.beta1) * gradient;
    second = o.beta2 * second + (1.0 - o.beta2) * gradient * gradient;
    double m = first / (1 - std::pow(double{o.beta1}, t));
    double v = second / (1 - std::pow(double{o.beta2}, t));
    weight -= o.learning_rate *
              (m / (std::sqrt(v) + o.epsilon) + o.weight_decay * weight);
  }
};

}  // namespace

TEST_CASE("AdamW follows the paper") {
  constexpr std::size_t kCount = 50;
  auto backend = make_backend("reference");
  Optimizer optimizer(*backend, kAdamW, kCount);
  Tensor w = backend->tensor({kCount});
  Tensor g = backend->tensor({kCount});
  std::vector<float> weights = random_values(kCount, 1);
  backend->upload(w.view(), weights);
  std::vector<AdamW> exact;
  for (float weight : weights) exact.push_back({weight});
  for (std::uint32_t t = 0; t < 30; ++t) {
    std::vector<float> gradients = random_values(kCount, 2 + t);
    backend->upload(g.view(), gradients);
    ConstView tensor = g.view();
    optimizer.step(w.view(), g.view(), {&tensor, 1}, t);
    for (std::size_t i = 0; i < kCount; ++i) {
      exact[i].step(kAdamW, gradients[i], static_cast<int>(t) + 1);
    }
  }
  backend->download(w.view(), weights);
  for (std::size_t i = 0; i < kCount; ++i) {
    CHECK(weights[i] == doctest::Approx(exact[i].weight).epsilon(2e-5));
  }
}

TEST_CASE("a gradient that is too long is shortened, another is left alone") {
  auto backend = make_backend("reference");
  OptimizerOptions options{.learning_rate = 1.0F, .clip_norm = 2.0F};
  auto moved = [&](std::vector<float> gradients) {
    Optimizer optimizer(*backend, options, 4);
    Tensor w = backend->tensor({4});
    Tensor g = backend->tensor({4});
    backend->upload(g.view(), gradients);
    const ConstView tensors[] = {g.view().part(0, {1}), g.view().part(1, {3})};
    optimizer.step(w.view(), g.view(), tensors, 0);
    std::vector<float> weights(4);
    backend->download(w.view(), weights);
    return weights;
  };
  CHECK(moved({0, 0, 1, -1}) == std::vector<float>{0, 0, -1, 1});
  // Of norm 4, over both tensors.
  CHECK(moved({2, 2, -2, 2}) == std::vector<float>{-1, -1, 1, -1});
  options.clip_norm = 0.0F;
  CHECK(moved({2, 2, -2, 2}) == std::vector<float>{-2, -2, 2, -2});
}

}  // namespace quorate
