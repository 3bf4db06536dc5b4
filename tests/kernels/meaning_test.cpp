// What losses, sums and optimisers mean, in binary64: the reference, which all
// devices are compared with, must compute that and nothing else.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::Floats;
using test::InputKind;
using Doubles = std::vector<double>;

constexpr std::size_t kCount = 3000;

class Reference {
 public:
  Backend& operator*() { return *backend_; }
  View put(Shape shape, const Floats& values) {
    return run_.put(shape, values);
  }
  View uniform(std::uint32_t stream) {
    return put({kCount}, test::inputs(InputKind::uniform, kCount, stream));
  }
  Doubles get(ConstView view) {
    Floats values = run_.get(view);
    return {values.begin(), values.end()};
  }

 private:
  std::unique_ptr<Backend> backend_ = make_backend("reference");
  test::Run run_{*backend_};
};

void check_near(const Doubles& found, const Doubles& exact, double most) {
  REQUIRE(found.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CAPTURE(i);
    REQUIRE(std::abs(found[i] - exact[i]) <= most);
  }
}

// -log softmax(row)[target].
double exact_loss(const double* row, std::size_t cols, std::size_t target) {
  double sum = 0;
  for (std::size_t j = 0; j < cols; ++j) sum += std::exp(row[j]);
  return std::log(sum) - row[target];
}

}  // namespace

TEST_CASE("cross-entropy is -log softmax, its gradient the slope of that") {
  constexpr std::size_t kRows = 7;
  constexpr std::size_t kCols = 1030;
  constexpr double kScale = 0.25;
  Reference on;
  View logits = on.put({kRows, kCols},
                       test::inputs(InputKind::uniform, kRows * kCols, 1));
  Doubles x = on.get(logits);
  std::vector<std::uint32_t> targets = {0, 1029, 5, 700, 31, 32, 1024};
  View losses = on.put({kRows}, Floats(kRows));
  (*on).softmax_cross_entropy(logits, targets, kScale, losses, logits);
  Doubles found = on.get(losses);
  Doubles slopes = on.get(logits);
  for (std::size_t row = 0; row < kRows; ++row) {
    double* at = &x[row * kCols];
    CHECK(std::abs(found[row] - exact_loss(at, kCols, targets[row])) < 2e-6);
    for (std::size_t j = 0; j < kCols; ++j) {
      constexpr double kStep = 1e-6;
      double old = at[j];
      at[j] = old + kStep;
      double above = exact_loss(at, kCols, targets[row]);
      at[j] = old - kStep;
      double below = exact_loss(at, kCols, targets[row]);
      at[j] = old;
      double slope = (above - below) / (2 * kStep) * kScale;
      REQUIRE(std::abs(slopes[row * kCols + j] - slope) < 1e-7);
    }
  }
}

TEST_CASE("sums are sums") {
  Reference on;
  View x = on.uniform(1);
  double sum = 0;
  double squares = 0;
  for (double value : on.get(x)) {
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs((*on).sum(x) - sum) < 1e-4);
  const ConstView arrays[] = {x};
  float found[1];
  (*on).sums_of_squares(arrays, found);
  CHECK(std::abs(found[0] - squares) < 1e-3);

  constexpr std::size_t kCols = 10;
  View matrix{x.memory, x.offset, {kCount / kCols, kCols}};
  View sums = on.put({kCols}, Floats(kCols));
  (*on).sum_rows(matrix, sums);
  Doubles exact(kCols);
  Doubles values = on.get(x);
  for (std::size_t i = 0; i < kCount; ++i) exact[i % kCols] += values[i];
  check_near(on.get(sums), exact, 1e-5);
}

TEST_CASE("scale multiplies, move_towards goes part of the way") {
  Reference on;
  View x = on.uniform(1);
  View y = on.uniform(2);
  Doubles exact = on.get(y);
  Doubles scaled = on.get(x);
  for (std::size_t i = 0; i < kCount; ++i) {
    exact[i] += 0.25 * (3 * scaled[i] - exact[i]);
    scaled[i] *= 3;
  }
  (*on).move_towards(x, 3.0F, 0.25F, y);
  (*on).scale(x, 3.0F, x);
  check_near(on.get(y), exact, 1e-6);
  check_near(on.get(x), scaled, 1e-6);
}

TEST_CASE("sgd is heavy-ball descent with decay") {
  Reference on;
  View w = on.uniform(1);
  View v = on.put({kCount}, Floats(kCount));
  Doubles exact = on.get(w);
  Doubles velocity(kCount);
  for (std::uint32_t step = 1; step <= 3; ++step) {
    View g = on.uniform(1 + step);
    Doubles slopes = on.get(g);
    for (std::size_t i = 0; i < kCount; ++i) {
      velocity[i] = 0.9 * velocity[i] + slopes[i] + 0.01 * exact[i];
      exact[i] -= 0.1 * velocity[i];
    }
    (*on).sgd(w, g, v, {0.1F, 0.9F, 0.01F});
  }
  check_near(on.get(w), exact, 1e-6);
}

// Loshchilov and Hutter, "Decoupled weight decay regularization", algorithm 2.
TEST_CASE("adamw is Adam with decoupled decay") {
  Reference on;
  View w = on.uniform(1);
  View m = on.put({kCount}, Floats(kCount));
  View v = on.put({kCount}, Floats(kCount));
  Doubles exact = on.get(w);
  Doubles first(kCount);
  Doubles second(kCount);
  for (std::uint32_t step = 1; step <= 4; ++step) {
    View g = on.uniform(1 + step);
    Doubles slopes = on.get(g);
    double correction1 = 1 / (1 - std::pow(0.9, step));
    double correction2 = 1 / (1 - std::pow(0.99, step));
    for (std::size_t i = 0; i < kCount; ++i) {
      first[i] = 0.9 * first[i] + 0.1 * slopes[i];
      second[i] = 0.99 * second[i] + 0.01 * slopes[i] * slopes[i];
      double u =
          first[i] * correction1 / (std::sqrt(second[i] * correction2) + 1e-8);
      exact[i] -= 0.01 * (u + 0.1 * exact[i]);
    }
    (*on).adamw(w, g, m, v,
                {.learning_rate = 0.01F,
                 .beta1 = 0.9F,
                 .one_minus_beta1 = 0.1F,
                 .beta2 = 0.99F,
                 .one_minus_beta2 = 0.01F,
                 .correction1 = static_cast<float>(correction1),
                 .correction2 = static_cast<float>(correction2),
                 .epsilon = 1e-8F,
                 .weight_decay = 0.1F});
  }
  check_near(on.get(w), exact, 2e-6);
}

}  // namespace quorate
