#include "kernels/cpu/normalizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/float_environment.h"

namespace quorate {
namespace {

// From so many images for each thread on, a task takes a whole image: what it
// reads several times then stays in its cache.
constexpr std::size_t kImagesPerThread = 2;

// Every row is its own image, and all of it one group.
bool is_layer_norm(const PixelSizes& n, const Normalization& how) {
  return n.pixels == 1 && how.groups == 1;
}

// Calls f(image, for_pieces), where for_pieces calls its argument with pieces
// of whole segments, (first pixel, pixels).
template <class F>
void for_images(Tasks& tasks, const PixelSizes& n, const F& f) {
  if (n.images >= kImagesPerThread * tasks.threads()) {
    tasks.run(n.images, n.images * n.image(), [&](std::size_t image) {
      f(image, [&](const auto& use) { use(std::size_t{0}, n.pixels); });
    });
    return;
  }
  CanonicalFloatMode mode;
  std::size_t segment = std::max<std::size_t>(1, kRowSegment * n.channels);
  std::size_t grain = ceil_div(kGrain, segment) * kRowSegment;
  auto for_pieces = [&](const auto& use) {
    std::size_t pieces = std::max<std::size_t>(1, ceil_div(n.pixels, grain));
    tasks.run(pieces, n.image(), [&](std::size_t piece) {
      std::size_t first = piece * grain;
      use(first, std::min(grain, n.pixels - first));
    });
  };
  for (std::size_t image = 0; image < n.images; ++image) f(image, for_pieces);
}

}  // namespace

// One image on its way: constants of its channels, and sums over its pixels.
struct Normalizer::Image {
  const PixelSizes& n;
  std::size_t groups;
  float* sums;      // (segments,channels); then the total in the first row
  float* products;  // the same; of a gradient only
  float* mean;      // of each channel, like those below
  float* rs;
  float* c1;
  float* c2;

  // Elements that `at` lays out.
  static std::size_t size(const PixelSizes& n) {
    return (2 * segment_count(n.pixels) + 4) * n.channels;
  }
  static Image at(const PixelSizes& n, std::size_t groups, float* memory) {
    std::size_t sums = segment_count(n.pixels) * n.channels;
    float* constants = memory + 2 * sums;
    return {n,
            groups,
            memory,
            memory + sums,
            constants,
            constants + n.channels,
            constants + 2 * n.channels,
            constants + 3 * n.channels};
  }

  std::size_t group_channels() const { return n.channels / groups; }
  float elements() const {
    return static_cast<float>(n.pixels * group_channels());
  }
  ChannelConstants constants(const Arrays& from) const {
    return {mean, rs, from.gamma, from.beta};
  }
  // Where the sums of the segment that begins with a pixel lie.
  std::size_t sums_at(std::size_t pixel) const {
    return pixel / kRowSegment * n.channels;
  }

  // Gives each channel the value of its group.
  void spread(const float* values, float* to) const {
    for (std::size_t g = 0; g < groups; ++g) {
      to = std::fill_n(to, group_channels(), values[g]);
    }
  }
  void spread_deviations(const float* variances, float epsilon) const {
    float* to = rs;
    for (std::size_t g = 0; g < groups; ++g) {
      to = std::fill_n(to, group_channels(),
                       1.0F / std::sqrt(variances[g] + epsilon));
    }
  }
};

template <class Pieces>
void Normalizer::find_statistics(const Image& image, const Pieces& for_pieces,
                                 const float* x, float* mean, float* variance) {
  const PixelSizes& n = image.n;
  // The means over groups of what `sums` holds.
  auto put_means = [&](float* to) {
    reduction_.add_pairs(image.sums, segment_count(n.pixels), n.channels);
    for (std::size_t g = 0; g < image.groups; ++g) {
      const float* first = image.sums + g * image.group_channels();
      to[g] = reduction_.sum(first, image.group_channels()) / image.elements();
    }
  };
  for_pieces([&](std::size_t first, std::size_t count) {
    reduction_.segment_sums(x + first * n.channels, n.channels, count,
                            n.channels, image.sums + image.sums_at(first));
  });
  put_means(mean);
  image.spread(mean, image.mean);
  for_pieces([&](std::size_t first, std::size_t count) {
    kernels_.square_sums(x + first * n.channels, image.mean, count, n.channels,
                         image.sums + image.sums_at(first));
  });
  put_means(variance);
}

void Normalizer::normalize(const PixelSizes& n, const Normalization& how,
                           const Arrays& from, float* y, float* mean,
                           float* variance) {
  if (is_layer_norm(n, how)) {
    return normalize_rows(n, how, from, y, mean, variance);
  }
  float* memory = scratch_.of(n.images * Image::size(n));
  for_images(tasks_, n, [&](std::size_t i, const auto& for_pieces) {
    Image image = Image::at(n, how.groups, memory + i * Image::size(n));
    find_statistics(image, for_pieces, from.x + i * n.image(),
                    mean + i * how.groups, variance + i * how.groups);
    image.spread_deviations(variance + i * how.groups, how.epsilon);
    for_pieces([&](std::size_t first, std::size_t count) {
      std::size_t at = i * n.image() + first * n.channels;
      kernels_.normalize(from.x + at, image.constants(from), how.relu, count,
                         n.channels, y + at);
    });
  });
}

void Normalizer::normalize_with(const PixelSizes& n, const Normalization& how,
                                const Arrays& from, const float* mean,
                                const float* variance, float* y) {
  float* memory = scratch_.of(n.images * Image::size(n));
  for_images(tasks_, n, [&](std::size_t i, const auto& for_pieces) {
    Image image = Image::at(n, how.groups, memory + i * Image::size(n));
    image.spread(mean + i * how.groups, image.mean);
    image.spread_deviations(variance + i * how.groups, how.epsilon);
    for_pieces([&](std::size_t first, std::size_t count) {
      std::size_t at = i * n.image() + first * n.channels;
      kernels_.normalize(from.x + at, image.constants(from), how.relu, count,
                         n.channels, y + at);
    });
  });
}

template <class Pieces>
void Normalizer::image_gradient(const Image& image, const Pieces& for_pieces,
                                const Normalization& how, const Arrays& from,
                                const GradientPiece& whole) {
  const PixelSizes& n = image.n;
  auto piece_at = [&](std::size_t first) {
    std::size_t at = first * n.channels;
    return GradientPiece{whole.x + at, whole.dy + at, whole.dx + at};
  };
  // The means over groups of sums times gamma.
  auto put_means = [&](float* sums, float* means) {
    reduction_.add_pairs(sums, segment_count(n.pixels), n.channels);
    std::size_t size = image.group_channels();
    for (std::size_t c = 0; c < n.channels; c += size) {
      float dot = reduction_.dot(sums + c, from.gamma + c, size);
      std::fill_n(means + c, size, dot / image.elements());
    }
  };
  for_pieces([&](std::size_t first, std::size_t count) {
    std::size_t at = image.sums_at(first);
    kernels_.gradient_sums(piece_at(first), image.constants(from), how.relu,
                           count, n.channels, image.sums + at,
                           image.products + at);
  });
  put_means(image.sums, image.c1);
  put_means(image.products, image.c2);
  for_pieces([&](std::size_t first, std::size_t count) {
    kernels_.gradient(piece_at(first), image.constants(from),
                      {image.c1, image.c2}, how.relu, count, n.channels);
  });
}

void Normalizer::gradient(const PixelSizes& n, const Normalization& how,
                          const Arrays& from, const float* mean,
                          const float* variance, const Gradients& to) {
  if (is_layer_norm(n, how)) {
    return row_gradients(n, how, from, mean, variance, to);
  }
  std::size_t size = Image::size(n);
  std::size_t segments = segment_count(n.images);
  float* memory = scratch_.of(n.images * size + segments * n.channels);
  for_images(tasks_, n, [&](std::size_t i, const auto& for_pieces) {
    Image image = Image::at(n, how.groups, memory + i * size);
    image.spread(mean + i * how.groups, image.mean);
    image.spread_deviations(variance + i * how.groups, how.epsilon);
    std::size_t at = i * n.image();
    image_gradient(image, for_pieces, how, from,
                   {from.x + at, to.dy + at, to.dx + at});
  });
  CanonicalFloatMode mode;
  float* partial = memory + n.images * size;
  auto sum_images = [&](const float* first, float* sums) {
    reduction_.segment_sums(first, size, n.images, n.channels, partial);
    reduction_.add_pairs(partial, segments, n.channels);
    std::copy_n(partial, n.channels, sums);
  };
  Image first = Image::at(n, how.groups, memory);
  sum_images(first.sums, to.dbeta);
  sum_images(first.products, to.dgamma);
}

void Normalizer::normalize_rows(const PixelSizes& n, const Normalization& how,
                                const Arrays& from, float* y, float* mean,
                                float* variance) {
  tasks_.for_rows({n.images, n.channels}, [&](std::size_t i) {
    std::size_t at = i * n.channels;
    RowStatistics row = kernels_.row_statistics(from.x + at, n.channels);
    mean[i] = row.mean;
    variance[i] = row.variance;
    kernels_.normalize_row(from.x + at, row, from.gamma, from.beta, how,
                           n.channels, y + at);
  });
}

// A task is a segment of the sums over the rows.
void Normalizer::row_gradients(const PixelSizes& n, const Normalization& how,
                               const Arrays& from, const float* mean,
                               const float* variance, const Gradients& to) {
  std::size_t count = segment_count(n.images);
  float* slopes = scratch_.of(2 * count * n.channels);
  float* products = slopes + count * n.channels;
  std::fill_n(slopes, 2 * count * n.channels, 0.0F);
  tasks_.run(count, n.images * n.channels, [&](std::size_t segment) {
    std::size_t end = std::min(n.images, (segment + 1) * kRowSegment);
    for (std::size_t i = segment * kRowSegment; i < end; ++i) {
      std::size_t at = i * n.channels;
      kernels_.row_gradient({from.x + at, to.dy + at, to.dx + at},
                            {mean[i], variance[i]}, from.gamma, from.beta, how,
                            n.channels, slopes + segment * n.channels,
                            products + segment * n.channels);
    }
  });
  CanonicalFloatMode mode;
  reduction_.add_pairs(slopes, count, n.channels);
  reduction_.add_pairs(products, count, n.channels);
  std::copy_n(slopes, n.channels, to.dbeta);
  std::copy_n(products, n.channels, to.dgamma);
}

}  // namespace quorate
