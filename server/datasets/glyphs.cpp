#include "server/datasets/glyphs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "server/datasets/glyph_strokes.h"

namespace quorate {
namespace {

struct Point {
  float x = 0.0F;
  float y = 0.0F;
};

// What makes one sample differ from its digit's ideal form. With these amounts
// an MLP with 256 hidden units learns 98.5 % of unseen samples from 20,000 and
// 99.3 % from 60,000 in a few epochs, a linear model 76 %.
constexpr float kJitter = 0.065F;      // of each point, in boxes
constexpr float kHalfAngleTan = 0.2F;  // rotation up to 23 degrees
constexpr float kShear = 0.35F;
constexpr float kBend = 0.4F;
constexpr float kShift = 2.8F;       // pixels
constexpr float kLeastSize = 15.0F;  // pixels, height of the box
constexpr float kSizeRange = 6.0F;
constexpr float kLeastAspect = 0.55F;  // width of the box in heights
constexpr float kAspectRange = 0.45F;
constexpr float kLeastRadius = 0.6F;  // of the pen, pixels
constexpr float kRadiusRange = 1.1F;
constexpr float kLeastInk = 0.65F;  // brightness of the ink, 1 is white
constexpr float kGrain = 48.0F;     // most noise of a pixel, of 255

// Straight pieces that a curve between two points of the pen is cut into.
constexpr int kPieces = 6;

// From box coordinates, centred, to pixels.
class Distortion {
 public:
  explicit Distortion(RandomStream& random) {
    float t = kHalfAngleTan * uniform11(random.next());
    // (1 - t^2, 2t) / (1 + t^2) is a point of the circle for every t.
    cos_ = (1.0F - t * t) / (1.0F + t * t);
    sin_ = 2.0F * t / (1.0F + t * t);
    height_ = kLeastSize + kSizeRange * uniform01(random.next());
    width_ = height_ * (kLeastAspect + kAspectRange * uniform01(random.next()));
    shear_ = kShear * uniform11(random.next());
    bend_ = kBend * uniform11(random.next());
    float middle = 0.5F * static_cast<float>(kGlyphSide);
    shift_ = {middle + kShift * uniform11(random.next()),
              middle + kShift * uniform11(random.next())};
  }

  Point operator()(Point p) const {
    float x = (p.x + bend_ * (p.y * p.y - 0.125F)) * width_;
    float y = p.y * height_;
    x = x - shear_ * y;
    return {cos_ * x - sin_ * y + shift_.x, sin_ * x + cos_ * y + shift_.y};
  }

 private:
  float cos_ = 1.0F;
  float sin_ = 0.0F;
  float height_ = 0.0F;
  float width_ = 0.0F;
  float shear_ = 0.0F;
  float bend_ = 0.0F;
  Point shift_;
};

// Squared distance of each pixel's centre to the nearest piece of the pen's
// path; only pixels near the path are visited.
class Canvas {
 public:
  explicit Canvas(float radius) : reach_(radius + 1.0F) {
    distance2_.fill(std::numeric_limits<float>::max());
  }

  void draw_line(Point a, Point b) {
    int left = first_pixel(std::min(a.x, b.x));
    int right = last_pixel(std::max(a.x, b.x));
    int top = first_pixel(std::min(a.y, b.y));
    int bottom = last_pixel(std::max(a.y, b.y));
    Point along{b.x - a.x, b.y - a.y};
    float length2 = along.x * along.x + along.y * along.y;
    float inverse = length2 > 0.0F ? 1.0F / length2 : 0.0F;
    for (int row = top; row <= bottom; ++row) {
      float y = static_cast<float>(row) + 0.5F - a.y;
      for (int column = left; column <= right; ++column) {
        float x = static_cast<float>(column) + 0.5F - a.x;
        float t = (x * along.x + y * along.y) * inverse;
        t = std::min(std::max(t, 0.0F), 1.0F);
        float dx = x - t * along.x;
        float dy = y - t * along.y;
        float& nearest =
            distance2_[static_cast<std::size_t>(row * side() + column)];
        nearest = std::min(nearest, dx * dx + dy * dy);
      }
    }
  }

  // From 0 (paper) to 1 (ink), with an edge one pixel wide.
  float ink(std::size_t pixel) const {
    if (distance2_[pixel] >= reach_ * reach_) return 0.0F;
    float covered = reach_ - 0.5F - std::sqrt(distance2_[pixel]);
    return std::min(std::max(covered, 0.0F), 1.0F);
  }

 private:
  static int side() { return static_cast<int>(kGlyphSide); }
  int first_pixel(float least) const {
    return std::max(static_cast<int>(least - reach_), 0);
  }
  int last_pixel(float most) const {
    return std::min(static_cast<int>(most + reach_), side() - 1);
  }

  float reach_;
  std::array<float, kGlyphPixels> distance2_{};
};

// The direction of the path at point i times a third of its length there; zero
// at a corner. points and stroke have the same size.
Point tangent(const std::vector<Point>& points, const PenStroke& stroke,
              std::size_t i) {
  if (stroke[i].is_corner) return {};
  const Point& before = points[i == 0 ? 0 : i - 1];
  const Point& after = points[std::min(i + 1, points.size() - 1)];
  return {0.5F * (after.x - before.x), 0.5F * (after.y - before.y)};
}

// A cubic through two points with given tangents (Hermite's form), at t.
Point on_curve(Point a, Point tangent_a, Point b, Point tangent_b, float t) {
  float s = 1.0F - t;
  float from_a = s * s * (1.0F + 2.0F * t);
  float from_b = t * t * (3.0F - 2.0F * t);
  float along_a = s * s * t;
  float along_b = -(t * t * s);
  return {from_a * a.x + along_a * tangent_a.x + from_b * b.x +
              along_b * tangent_b.x,
          from_a * a.y + along_a * tangent_a.y + from_b * b.y +
              along_b * tangent_b.y};
}

void draw_stroke(const PenStroke& stroke, const Distortion& distort,
                 RandomStream& random, Canvas& canvas) {
  std::vector<Point> points;
  for (const PenPoint& pen : stroke) {
    float x = 0.01F * static_cast<float>(pen.x) - 0.5F;
    float y = 0.01F * static_cast<float>(pen.y) - 0.5F;
    x = x + kJitter * uniform11(random.next());
    y = y + kJitter * uniform11(random.next());
    points.push_back(distort({x, y}));
  }
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    Point tangent_a = tangent(points, stroke, i);
    Point tangent_b = tangent(points, stroke, i + 1);
    Point from = points[i];
    for (int piece = 1; piece <= kPieces; ++piece) {
      float t = static_cast<float>(piece) / static_cast<float>(kPieces);
      Point to = on_curve(points[i], tangent_a, points[i + 1], tangent_b, t);
      canvas.draw_line(from, to);
      from = to;
    }
  }
}

void develop(const Canvas& canvas, RandomStream& random,
             std::span<std::uint8_t> pixels) {
  float ink = kLeastInk + (1.0F - kLeastInk) * uniform01(random.next());
  float grain = kGrain * uniform01(random.next());
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (i % 4 == 0) word = random.next();
    float noise = static_cast<float>(word & 0xff) * (1.0F / 256.0F);
    word >>= 8;
    float level = 255.0F * ink * canvas.ink(i) + grain * noise;
    pixels[i] = static_cast<std::uint8_t>(std::min(level, 255.0F));
  }
}

SampleSet draw_range(std::uint64_t seed, std::uint32_t first,
                     std::uint32_t count) {
  SampleSet set;
  set.images.resize(std::size_t{count} * kGlyphPixels);
  set.labels.resize(count);
  std::span<std::uint8_t> images = set.images;
  for (std::uint32_t i = 0; i < count; ++i) {
    set.labels[i] =
        draw_glyph(seed, first + i,
                   images.subspan(std::size_t{i} * kGlyphPixels, kGlyphPixels));
  }
  return set;
}

}  // namespace

std::uint8_t draw_glyph(std::uint64_t seed, std::uint32_t index,
                        std::span<std::uint8_t> pixels) {
  check(pixels.size() == kGlyphPixels, "a glyph has 28 x 28 pixels");
  std::uint32_t digit = index % kGlyphClasses;
  RandomStream random(seed, stream_of(RandomUse::augmentation), index);
  const std::vector<GlyphStyle>& styles = glyph_styles(digit);
  auto style_count = static_cast<std::uint32_t>(styles.size());
  const GlyphStyle& style = styles[integer_below(random.next(), style_count)];
  Distortion distort(random);
  Canvas canvas(kLeastRadius + kRadiusRange * uniform01(random.next()));
  for (const PenStroke& stroke : style) {
    draw_stroke(stroke, distort, random, canvas);
  }
  develop(canvas, random, pixels);
  return static_cast<std::uint8_t>(digit);
}

DatasetSource glyphs_source(std::uint32_t train, std::uint32_t test,
                            std::uint64_t seed) {
  DatasetSource source;
  source.kind = "glyphs";
  source.shape = {kGlyphSide, kGlyphSide, 1};
  source.classes = kGlyphClasses;
  std::uint64_t all = std::uint64_t{train} + test;
  expect_dataset_fits(all * (kGlyphPixels + 1), "glyphs");
  source.train = draw_range(seed, 0, train);
  source.test = draw_range(seed, train, test);
  return source;
}

}  // namespace quorate
