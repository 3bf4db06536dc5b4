// Normalization on every device against the reference, and the reference
// against the formula in binary64.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::append;
using test::Floats;
using test::InputKind;

struct Size {
  std::size_t images, pixels, channels, groups;

  std::size_t count() const { return images * pixels * channels; }
};

constexpr Size kSizes[] = {
    // Layer norm: around vectors, lanes and blocks of R1, segments of rows.
    {1, 1, 1, 1},
    {3, 1, 17, 1},
    {129, 1, 33, 1},
    {2, 1, 1024, 1},
    {3, 1, 1025, 1},
    {1, 1, 2100, 1},
    {130, 1, 384, 1},
    // Group norm: around segments of pixels, many images and few.
    {3, 2, 16, 4},
    {2, 63, 8, 8},
    {7, 64, 16, 8},
    {3, 65, 32, 8},
    {2, 129, 40, 10},
    {65, 3, 12, 3},
    {2, 1, 12, 3},
    {9, 64, 64, 32},
    {1, 1000, 70, 7},
    {6, 256, 64, 8},
    {2, 65, 1030, 1},
    // Batch norm.
    {1, 2, 3, 3},
    {1, 64, 48, 48},
    {1, 1000, 17, 17},
    {1, 4161, 16, 16},
    // Nothing.
    {2, 0, 6, 3},
    {0, 4, 6, 3},
    {0, 1, 6, 1},
};

// The values that networks see: deviations that vary, means that are not 0.
Floats data(InputKind kind, std::size_t count, std::uint32_t stream) {
  Floats values = test::inputs(kind, count, stream);
  if (kind != InputKind::uniform) return values;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = values[i] * static_cast<float>(1 + i % 5) + 0.3F;
  }
  return values;
}

struct Statistics {
  View mean, variance;
};

Statistics put_statistics(test::Run& run, const Size& n) {
  Floats none(n.images * n.groups);
  return {run.put({n.images, n.groups}, none),
          run.put({n.images, n.groups}, none)};
}

Floats normalized(Backend& backend, const Size& n, const Normalization& how,
                  InputKind kind) {
  test::Run run(backend);
  Shape shape{n.images, n.pixels, n.channels};
  View x = run.put(shape, data(kind, n.count(), 1));
  View y = run.put(shape, Floats(n.count()));
  View gamma = run.put({n.channels}, test::inputs(kind, n.channels, 2));
  View beta = run.put({n.channels}, test::inputs(kind, n.channels, 3));
  Statistics found = put_statistics(run, n);
  backend.normalize(x, gamma, beta, how, y, found.mean, found.variance);
  Floats all =
      append(append(run.get(y), run.get(found.mean)), run.get(found.variance));
  // With statistics from elsewhere.
  View mean =
      run.put({n.images, n.groups}, test::inputs(kind, n.images * n.groups, 4));
  View variance =
      run.put({n.images, n.groups}, test::inputs(kind, n.images * n.groups, 5));
  backend.normalize_with(x, mean, variance, gamma, beta, how, y);
  return append(all, run.get(y));
}

Floats gradients(Backend& backend, const Size& n, const Normalization& how,
                 InputKind kind, bool in_place) {
  test::Run run(backend);
  Shape shape{n.images, n.pixels, n.channels};
  View x = run.put(shape, data(kind, n.count(), 1));
  View dy = run.put(shape, test::inputs(kind, n.count(), 6));
  View dx = in_place ? dy : run.put(shape, Floats(n.count()));
  View gamma = run.put({n.channels}, test::inputs(kind, n.channels, 2));
  View beta = run.put({n.channels}, test::inputs(kind, n.channels, 3));
  View dgamma = run.put({n.channels}, Floats(n.channels));
  View dbeta = run.put({n.channels}, Floats(n.channels));
  Statistics found = put_statistics(run, n);
  View y = run.put(shape, Floats(n.count()));
  backend.normalize(x, gamma, beta, how, y, found.mean, found.variance);
  backend.normalize_gradient(x, dy, found.mean, found.variance, gamma, beta,
                             how, dx, dgamma, dbeta);
  return append(append(run.get(dx), run.get(dgamma)), run.get(dbeta));
}

// --- The formula, in binary64.

struct Exact {
  Size n;
  double epsilon;
  bool relu;

  // y from x, gamma and beta, one after another.
  std::vector<double> operator()(const std::vector<double>& from) const {
    const double* x = from.data();
    const double* gamma = x + n.count();
    const double* beta = gamma + n.channels;
    std::vector<double> y(n.count());
    std::size_t channels = n.channels / n.groups;
    for (std::size_t image = 0; image < n.images; ++image) {
      for (std::size_t group = 0; group < n.groups; ++group) {
        std::vector<std::size_t> members;
        for (std::size_t p = 0; p < n.pixels; ++p) {
          for (std::size_t c = 0; c < channels; ++c) {
            members.push_back((image * n.pixels + p) * n.channels +
                              group * channels + c);
          }
        }
        auto count = static_cast<double>(members.size());
        double mean = 0;
        for (std::size_t i : members) mean += x[i] / count;
        double variance = 0;
        for (std::size_t i : members) {
          variance += (x[i] - mean) * (x[i] - mean) / count;
        }
        for (std::size_t i : members) {
          std::size_t c = i % n.channels;
          y[i] = (x[i] - mean) / std::sqrt(variance + epsilon) * gamma[c] +
                 beta[c];
          if (relu) y[i] = std::max(y[i], 0.0);
        }
      }
    }
    return y;
  }
};

std::vector<double> exact_inputs(const Size& n) {
  Floats all = append(data(InputKind::uniform, n.count(), 1),
                      append(test::inputs(InputKind::uniform, n.channels, 2),
                             test::inputs(InputKind::uniform, n.channels, 3)));
  return {all.begin(), all.end()};
}

constexpr Size kExactSizes[] = {
    {3, 1, 40, 1}, {2, 70, 12, 4}, {1, 150, 6, 6}, {2, 9, 8, 1}};

}  // namespace

TEST_CASE("normalization agrees with the reference") {
  for (const Size& n : kSizes) {
    for (bool relu : {false, true}) {
      CAPTURE(n.pixels);
      CAPTURE(n.channels);
      CAPTURE(n.groups);
      CAPTURE(relu);
      Normalization how{n.groups, 1e-5F, relu};
      test::check_operation([&](Backend& backend, InputKind kind) {
        return normalized(backend, n, how, kind);
      });
    }
  }
}

TEST_CASE("gradients of normalization agree with the reference") {
  for (const Size& n : kSizes) {
    for (bool relu : {false, true}) {
      CAPTURE(n.pixels);
      CAPTURE(n.channels);
      CAPTURE(n.groups);
      CAPTURE(relu);
      Normalization how{n.groups, 1e-5F, relu};
      test::check_operation([&](Backend& backend, InputKind kind) {
        return gradients(backend, n, how, kind, relu);
      });
    }
  }
}

TEST_CASE("the reference normalizes as the formula says") {
  auto backend = make_backend("reference");
  for (const Size& n : kExactSizes) {
    for (bool relu : {false, true}) {
      Normalization how{n.groups, 1e-3F, relu};
      Floats found = normalized(*backend, n, how, InputKind::uniform);
      std::vector<double> exact = Exact{n, 1e-3, relu}(exact_inputs(n));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(i);
        REQUIRE(std::abs(found[i] - exact[i]) < 1e-5);
      }
    }
  }
}

// L = the sum of y dy changes along a direction as the gradients say.
TEST_CASE("the reference's gradients are slopes of the formula") {
  auto backend = make_backend("reference");
  for (const Size& n : kExactSizes) {
    for (bool relu : {false, true}) {
      Normalization how{n.groups, 1e-3F, relu};
      Exact exact{n, 1e-3, relu};
      Floats found = gradients(*backend, n, how, InputKind::uniform, false);
      Floats dy = test::inputs(InputKind::uniform, n.count(), 6);
      std::vector<double> at = exact_inputs(n);
      REQUIRE(found.size() == at.size());
      auto loss = [&](const Floats& direction, double step) {
        std::vector<double> moved = at;
        for (std::size_t i = 0; i < at.size(); ++i) {
          moved[i] += step * direction[i];
        }
        std::vector<double> y = exact(moved);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
        return sum;
      };
      for (std::uint32_t stream = 10; stream < 14; ++stream) {
        Floats direction = test::inputs(InputKind::uniform, at.size(), stream);
        constexpr double kStep = 1e-7;
        double slope =
            (loss(direction, kStep) - loss(direction, -kStep)) / (2 * kStep);
        double expected = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
          expected += static_cast<double>(found[i]) * direction[i];
        }
        CAPTURE(n.pixels);
        CAPTURE(relu);
        CHECK(std::abs(slope - expected) < 1e-4 * (1 + std::abs(slope)));
      }
    }
  }
}

}  // namespace quorate
