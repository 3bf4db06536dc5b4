// Attention on every device against the reference, and the reference against
// softmax in binary64.
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
  std::size_t batch, length, heads, head_size;

  std::size_t channels() const { return heads * head_size; }
  std::size_t count() const { return batch * length * channels(); }
  Shape qkv() const { return {batch, length, 3 * channels()}; }
  Shape y() const { return {batch, length, channels()}; }
  Shape weights() const { return {batch, heads, length, length}; }
};

// Around blocks of positions, segments of 256 in either sum, vectors.
constexpr Size kSizes[] = {
    {1, 1, 1, 1},   {2, 1, 2, 16},  {1, 63, 1, 64},   {1, 64, 2, 16},
    {2, 65, 1, 17}, {1, 127, 1, 8}, {1, 128, 1, 257}, {1, 129, 2, 16},
    {1, 257, 1, 1}, {1, 300, 2, 7},
};

constexpr float kScale = 0.37F;

// Scores that differ by more than uniform inputs make them.
Floats data(InputKind kind, std::size_t count) {
  Floats values = test::inputs(kind, count, 1);
  if (kind == InputKind::uniform) {
    for (float& value : values) value *= 2.0F;
  }
  return values;
}

struct Result {
  Floats weights, y, dqkv;
};

Result attention(Backend& backend, const Size& n, InputKind kind) {
  test::Run run(backend);
  View qkv = run.put(n.qkv(), data(kind, 3 * n.count()));
  // What was there must not matter.
  View weights = run.put(n.weights(), Floats(n.weights().count(), NAN));
  View y = run.put(n.y(), Floats(n.count(), NAN));
  View dy = run.put(n.y(), test::inputs(kind, n.count(), 2));
  View dqkv = run.put(n.qkv(), Floats(3 * n.count(), NAN));
  backend.attention(qkv, n.heads, kScale, weights, y);
  backend.attention_gradient(qkv, weights, dy, n.heads, kScale, dqkv);
  return {run.get(weights), run.get(y), run.get(dqkv)};
}

// --- In binary64.

std::vector<double> exact_attention(const Size& n,
                                    const std::vector<double>& qkv) {
  std::vector<double> y(n.count());
  std::size_t C = n.channels();
  for (std::size_t head = 0; head < n.batch * n.heads; ++head) {
    std::size_t first = head / n.heads * n.length;
    std::size_t channel = head % n.heads * n.head_size;
    for (std::size_t i = 0; i < n.length; ++i) {
      const double* query = &qkv[(first + i) * 3 * C + channel];
      double sum = 0;
      double* out = &y[(first + i) * C + channel];
      for (std::size_t j = 0; j <= i; ++j) {
        const double* key = &qkv[(first + j) * 3 * C + C + channel];
        double score = 0;
        for (std::size_t d = 0; d < n.head_size; ++d) {
          score += query[d] * key[d];
        }
        double e = std::exp(score * static_cast<double>(kScale));
        sum += e;
        for (std::size_t d = 0; d < n.head_size; ++d) {
          out[d] += e * key[C + d];
        }
      }
      for (std::size_t d = 0; d < n.head_size; ++d) out[d] /= sum;
    }
  }
  return y;
}

constexpr Size kExactSizes[] = {{1, 3, 1, 2}, {2, 70, 3, 8}, {1, 130, 1, 20}};

}  // namespace

TEST_CASE("attention and its gradient agree with the reference") {
  for (const Size& n : kSizes) {
    CAPTURE(n.length);
    CAPTURE(n.head_size);
    test::check_operation([&](Backend& backend, InputKind kind) {
      Result found = attention(backend, n, kind);
      return append(append(found.weights, found.y), found.dqkv);
    });
  }
}

TEST_CASE("the reference's attention is a causal softmax") {
  auto backend = make_backend("reference");
  for (const Size& n : kExactSizes) {
    Result found = attention(*backend, n, InputKind::uniform);
    Floats qkv = data(InputKind::uniform, 3 * n.count());
    std::vector<double> exact = exact_attention(n, {qkv.begin(), qkv.end()});
    for (std::size_t i = 0; i < exact.size(); ++i) {
      CAPTURE(i);
      REQUIRE(std::abs(found.y[i] - exact[i]) < 3e-6);
    }
    for (std::size_t at = 0; at < found.weights.size(); at += n.length) {
      std::size_t i = at / n.length % n.length;
      double sum = 0;
      for (std::size_t j = 0; j < n.length; ++j) {
        sum += found.weights[at + j];
        if (j > i) REQUIRE(found.weights[at + j] == 0.0F);
      }
      REQUIRE(std::abs(sum - 1) < 1e-5);
    }
  }
}

// L = the sum of y dy changes along a direction as the gradient says.
TEST_CASE("the reference's gradient of attention is its slope") {
  auto backend = make_backend("reference");
  for (const Size& n : kExactSizes) {
    Floats dy = test::inputs(InputKind::uniform, n.count(), 2);
    Floats qkv = data(InputKind::uniform, 3 * n.count());
    Result found = attention(*backend, n, InputKind::uniform);
    auto loss = [&](const Floats& direction, double step) {
      std::vector<double> moved(qkv.begin(), qkv.end());
      for (std::size_t i = 0; i < moved.size(); ++i) {
        moved[i] += step * direction[i];
      }
      std::vector<double> y = exact_attention(n, moved);
      double sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
      return sum;
    };
    for (std::uint32_t stream = 10; stream < 13; ++stream) {
      Floats direction = test::inputs(InputKind::uniform, qkv.size(), stream);
      constexpr double kStep = 1e-5;
      double slope =
          (loss(direction, kStep) - loss(direction, -kStep)) / (2 * kStep);
      double expected = 0;
      for (std::size_t i = 0; i < qkv.size(); ++i) {
        expected += static_cast<double>(found.dqkv[i]) * direction[i];
      }
      CHECK(std::abs(slope - expected) < 1e-4 * (1 + std::abs(slope)));
    }
  }
}

}  // namespace quorate
