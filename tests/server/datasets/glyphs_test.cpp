#include "server/datasets/glyphs.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "base/crypto.h"
#include "server/datasets/glyph_strokes.h"
#include "tests/server/datasets/files.h"

namespace quorate {
namespace {

using Pixels = std::array<std::uint8_t, kGlyphPixels>;

Pixels glyph(std::uint64_t seed, std::uint32_t index) {
  Pixels pixels{};
  draw_glyph(seed, index, pixels);
  return pixels;
}

TEST_CASE("every machine draws the same bits") {
  DatasetSource source = glyphs_source(1000, 0, 7);
  CHECK(sha256(source.train.images).hex() ==
        "fcb9ec7df01e9c82e051a27ed31d8745f74e58973788884b36aa95e9e9977a66");
}

TEST_CASE("a sample depends on seed and index only") {
  DatasetSource small = glyphs_source(20, 5, 3);
  DatasetSource large = glyphs_source(25, 0, 3);
  CHECK(std::equal(small.train.images.begin(), small.train.images.end(),
                   large.train.images.begin()));
  // The test part goes on where the training part ends.
  CHECK(std::equal(small.test.images.begin(), small.test.images.end(),
                   large.train.images.begin() + 20 * kGlyphPixels));
  CHECK(glyph(3, 4) != glyph(4, 4));
  CHECK(glyph(3, 4) != glyph(3, 14));  // the same digit again
}

TEST_CASE("classes are balanced and named by index") {
  DatasetSource source = glyphs_source(100, 10, 0);
  CHECK(source.classes == 10);
  CHECK(source.shape == SampleShape{28, 28, 1});
  for (std::uint8_t digit = 0; digit < 10; ++digit) {
    CHECK(std::count(source.train.labels.begin(), source.train.labels.end(),
                     digit) == 10);
  }
  CHECK(source.test.labels == Bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("ink lies inside the picture, on darker paper") {
  for (std::uint32_t index = 0; index < 500; ++index) {
    Pixels pixels = glyph(11, index);
    auto inked = std::count_if(pixels.begin(), pixels.end(),
                               [](std::uint8_t p) { return p > 100; });
    CHECK(inked > 10);
    CHECK(inked < 400);
    // Noise alone stays below 48; an edge with more is a digit cut off.
    int bright_edge = 0;
    for (std::size_t i = 0; i < kGlyphSide; ++i) {
      for (std::size_t at : {i, kGlyphPixels - 1 - i, i * kGlyphSide,
                             i * kGlyphSide + kGlyphSide - 1}) {
        bright_edge += pixels[at] > 100 ? 1 : 0;
      }
    }
    CHECK(bright_edge < 24);
  }
}

TEST_CASE("each digit has several hands, inside the box") {
  for (std::uint32_t digit = 0; digit < kGlyphClasses; ++digit) {
    CHECK(glyph_styles(digit).size() >= 2);
    for (const GlyphStyle& style : glyph_styles(digit)) {
      for (const PenStroke& stroke : style) {
        CHECK(stroke.size() >= 2);
        for (const PenPoint& point : stroke) {
          CHECK((point.x >= 0 && point.x <= 100));
          CHECK((point.y >= 0 && point.y <= 100));
        }
      }
    }
  }
}

// The nearest of the mean images of the classes, learned from `train`.
double nearest_mean_accuracy(const SampleSet& train, const SampleSet& test) {
  std::array<std::array<float, kGlyphPixels>, kGlyphClasses> means{};
  float scale =
      static_cast<float>(kGlyphClasses) / static_cast<float>(train.samples());
  for (std::size_t i = 0; i < train.images.size(); ++i) {
    means[train.labels[i / kGlyphPixels]][i % kGlyphPixels] +=
        scale * static_cast<float>(train.images[i]);
  }
  std::size_t right = 0;
  for (std::size_t n = 0; n < test.samples(); ++n) {
    std::array<float, kGlyphClasses> distances{};
    for (std::size_t c = 0; c < kGlyphClasses; ++c) {
      for (std::size_t i = 0; i < kGlyphPixels; ++i) {
        float d =
            means[c][i] - static_cast<float>(test.images[n * kGlyphPixels + i]);
        distances[c] += d * d;
      }
    }
    auto best = std::min_element(distances.begin(), distances.end());
    right += best - distances.begin() == test.labels[n] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(test.samples());
}

TEST_CASE("digits can be told apart, but not by their mean images") {
  DatasetSource source = glyphs_source(2000, 1000, 5);
  double accuracy = nearest_mean_accuracy(source.train, source.test);
  CHECK(accuracy > 0.3);
  CHECK(accuracy < 0.8);
}

TEST_CASE("a set that does not fit in memory is refused") {
  std::string text = error_of(ErrorKind::denied,
                              [] { (void)glyphs_source(2'000'000'000, 0, 0); });
  CHECK(contains(text, "at most 1000000000 fit"));
}

}  // namespace
}  // namespace quorate
