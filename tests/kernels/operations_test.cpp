// Every operation but the product, on every device, against the reference.
#include <algorithm>
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::append;
using test::check_operation;
using test::Floats;
using test::InputKind;

// Around vectors, R1 blocks, pieces of a task, and enough for three threads.
constexpr std::size_t kCounts[] = {1, 15, 17, 1023, 1024, 1025, 40001};

struct Matrix {
  std::size_t rows, cols;
};
constexpr Matrix kMatrices[] = {{1, 1},    {3, 10},   {63, 16},
                                {64, 17},  {65, 64},  {129, 65},
                                {1000, 7}, {5, 1025}, {300, 200}};

std::vector<std::uint32_t> targets_for(const Matrix& size) {
  std::vector<std::uint32_t> targets(size.rows);
  for (std::size_t i = 0; i < size.rows; ++i) {
    targets[i] = static_cast<std::uint32_t>(i * 7 % size.cols);
  }
  return targets;
}

void check_function(Function f) {
  for (std::size_t count : kCounts) {
    CAPTURE(count);
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({count}, test::inputs(kind, count, 1));
      View y = run.put({count}, Floats(count));
      backend.map(f, x, y);
      backend.map(f, x, x);  // in place
      return append(run.get(y), run.get(x));
    });
  }
}

void check_gradient(Function f) {
  for (std::size_t count : kCounts) {
    CAPTURE(count);
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({count}, test::inputs(kind, count, 1));
      View dy = run.put({count}, test::inputs(kind, count, 2));
      View dx = run.put({count}, Floats(count));
      backend.map_gradient(f, x, dy, dx);
      backend.map_gradient(f, x, dy, dy);  // in place
      return append(run.get(dx), run.get(dy));
    });
  }
}

// y = f(a, b), on its own and in the place of either.
void check_pairwise(
    const std::function<void(Backend&, View a, View b, View y)>& f) {
  for (std::size_t count : kCounts) {
    CAPTURE(count);
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      Floats first = test::inputs(kind, count, 1);
      Floats second = test::inputs(kind, count, 2);
      View a = run.put({count}, first);
      View b = run.put({count}, second);
      View y = run.put({count}, Floats(count));
      f(backend, a, b, y);
      f(backend, a, b, a);
      View again = run.put({count}, first);
      f(backend, again, b, b);
      return append(append(run.get(y), run.get(a)), run.get(b));
    });
  }
}

}  // namespace

TEST_CASE("functions agree with the reference") {
  for (std::size_t f = 0; f < kFunctionCount; ++f) {
    CAPTURE(f);
    check_function(static_cast<Function>(f));
  }
}

TEST_CASE("gradients of functions agree with the reference") {
  for (Function f : {Function::tanh, Function::sigmoid, Function::relu,
                     Function::gelu, Function::silu}) {
    CAPTURE(static_cast<int>(f));
    check_gradient(f);
  }
}

TEST_CASE("sums and differences agree with the reference") {
  check_pairwise(
      [](Backend& backend, View a, View b, View y) { backend.add(a, b, y); });
  check_pairwise([](Backend& backend, View a, View b, View y) {
    backend.subtract(a, b, y);
  });
}

TEST_CASE("add_bias and sum_rows agree with the reference") {
  for (const Matrix& size : kMatrices) {
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({size.rows, size.cols},
                       test::inputs(kind, size.rows * size.cols, 1));
      View bias = run.put({size.cols}, test::inputs(kind, size.cols, 2));
      View sums = run.put({size.cols}, Floats(size.cols));
      backend.sum_rows(x, sums);
      backend.add_bias(x, bias);
      return append(run.get(x), run.get(sums));
    });
  }
}

TEST_CASE("sum agrees with the reference") {
  for (std::size_t count : kCounts) {
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      return Floats{
          backend.sum(run.put({count}, test::inputs(kind, count, 1)))};
    });
  }
}

TEST_CASE("softmax with cross-entropy agrees with the reference") {
  for (const Matrix& size : kMatrices) {
    auto targets = targets_for(size);
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      std::size_t count = size.rows * size.cols;
      Floats logits = test::inputs(kind, count, 1);
      if (kind == InputKind::uniform) {
        for (float& value : logits) value *= 20.0F;
      }
      View x = run.put({size.rows, size.cols}, logits);
      View dx = run.put({size.rows, size.cols}, Floats(count));
      View losses = run.put({size.rows}, Floats(size.rows));
      backend.softmax_cross_entropy(x, targets, 1.0F / 64, losses, dx);
      return append(run.get(losses), run.get(dx));
    });
  }
}

TEST_CASE("counting correct rows agrees with the reference") {
  for (const Matrix& size : kMatrices) {
    auto targets = targets_for(size);
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({size.rows, size.cols},
                       test::inputs(kind, size.rows * size.cols, 1));
      return Floats{static_cast<float>(backend.count_correct(x, targets))};
    });
  }
}

TEST_CASE("of equal scores the first counts") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    View x = run.put({2, 3}, {1, 7, 7, -1, -1, -2});
    CHECK(backend->count_correct(x, std::vector<std::uint32_t>{1, 0}) == 2);
    CHECK(backend->count_correct(x, std::vector<std::uint32_t>{2, 1}) == 0);
  }
}

TEST_CASE("sgd agrees with the reference, step after step") {
  const SgdStep kSteps[] = {
      {.learning_rate = 0.1F},
      {.learning_rate = 0.05F, .momentum = 0.9F},
      {.learning_rate = 0.05F, .momentum = 0.9F, .weight_decay = 0.01F}};
  for (const SgdStep& step : kSteps) {
    for (std::size_t count : {17U, 1025U, 40001U}) {
      check_operation([&](Backend& backend, InputKind kind) {
        test::Run run(backend);
        View w = run.put({count}, test::inputs(kind, count, 1));
        View v = run.put({count}, Floats(count));
        for (std::uint32_t i = 0; i < 3; ++i) {
          backend.sgd(w, run.put({count}, test::inputs(kind, count, 2 + i)), v,
                      step);
        }
        return append(run.get(w), run.get(v));
      });
    }
  }
}

TEST_CASE("adamw agrees with the reference, step after step") {
  AdamWStep step{.learning_rate = 0.01F,
                 .beta1 = 0.9F,
                 .one_minus_beta1 = 0.1F,
                 .beta2 = 0.99F,
                 .one_minus_beta2 = 0.01F,
                 .epsilon = 1e-8F};
  for (float decay : {0.0F, 0.01F}) {
    step.weight_decay = decay;
    for (std::size_t count : kCounts) {
      check_operation([&](Backend& backend, InputKind kind) {
        test::Run run(backend);
        View w = run.put({count}, test::inputs(kind, count, 1));
        View m = run.put({count}, Floats(count));
        View v = run.put({count}, Floats(count));
        for (std::uint32_t i = 0; i < 3; ++i) {
          step.correction1 = 10.0F / static_cast<float>(i + 1);
          step.correction2 = 100.0F / static_cast<float>(i + 1);
          backend.adamw(w, run.put({count}, test::inputs(kind, count, 2 + i)),
                        m, v, step);
        }
        return append(append(run.get(w), run.get(m)), run.get(v));
      });
    }
  }
}

TEST_CASE("scale and move_towards agree with the reference") {
  for (std::size_t count : kCounts) {
    check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({count}, test::inputs(kind, count, 1));
      View y = run.put({count}, test::inputs(kind, count, 2));
      View scaled = run.put({count}, Floats(count));
      backend.move_towards(x, 1.0F / 3, 0.1F, y);
      backend.scale(x, 1.0F / 3, scaled);
      backend.scale(x, -0.7F, x);  // in place
      return append(append(run.get(y), run.get(scaled)), run.get(x));
    });
  }
}

TEST_CASE("sums of squares agree with the reference") {
  check_operation([&](Backend& backend, InputKind kind) {
    test::Run run(backend);
    std::vector<ConstView> arrays;
    for (std::size_t count : kCounts) {
      arrays.push_back(run.put({count}, test::inputs(kind, count, 1)));
    }
    arrays.push_back(run.put({33}, Floats(33, -0.0F)));
    Floats sums(arrays.size());
    backend.sums_of_squares(arrays, sums);
    return sums;
  });
}

TEST_CASE("pixels become numbers from 0 to 1") {
  std::vector<std::uint8_t> pixels(1000);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i);
  }
  check_operation([&](Backend& backend, InputKind) {
    test::Run run(backend);
    View to = run.put({pixels.size()}, Floats(pixels.size()));
    backend.upload_pixels(to, pixels);
    Floats found = run.get(to);
    CHECK(found[0] == 0.0F);
    CHECK(found[255] == 1.0F);
    return found;
  });
}

TEST_CASE("one number that is not finite is found anywhere") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    for (std::size_t count : {1U, 16U, 33U, 40000U}) {
      Floats values = test::inputs(InputKind::wide, count, 1);
      CHECK(backend->all_finite(run.put({count}, values)));
      for (std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        for (float bad : {HUGE_VALF, -HUGE_VALF, NAN}) {
          Floats spoiled = values;
          spoiled[at] = bad;
          CHECK_FALSE(backend->all_finite(run.put({count}, spoiled)));
        }
      }
    }
  }
}

}  // namespace quorate
