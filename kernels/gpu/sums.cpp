#include "kernels/gpu/sums.h"

#include "kernels/gpu/products.h"

namespace quorate {
namespace {

QPixels pixels_of(const PixelSizes& n, std::size_t groups, bool relu) {
  return {gpu_word(n.images), gpu_word(n.pixels), gpu_word(n.channels),
          gpu_word(groups), relu ? 1U : 0U};
}

// What a sum over pixels reads; places that it does not need may be any.
struct Summed {
  GpuPlace x, dy, mean, deviations, gamma, beta;
};

// to (images, channels): x (images, rows, channels) added in pairs. x lies in
// Scratch::pairs and is used up.
void add_in_pairs(GpuQueue& queue, std::uint32_t images, std::uint64_t rows,
                  std::uint32_t channels, const GpuPlace& to) {
  Scratch from = Scratch::pairs;
  Scratch other = Scratch::other_pairs;
  std::uint64_t row = std::uint64_t{images} * channels;
  for (; rows > 1; std::swap(from, other)) {
    std::uint64_t results = (rows + 15) / 16;
    GpuPlace sums = results == 1 ? to : queue.scratch(other, row * results);
    queue.launch(GpuKernel::add_row_pairs,
                 elements(row * results, 16 * kReadCost),
                 queue.scratch(from, row * rows), sums, images, gpu_word(rows),
                 channels);
    rows = results;
  }
}

void clear(GpuQueue& queue, const GpuPlace& place, std::uint64_t count) {
  queue.device().clear(*place.buffer, place.first * sizeof(float),
                       count * sizeof(float));
}

// sums (images, channels).
void sum_pixels(GpuQueue& queue, std::uint32_t what, const Summed& of,
                const QPixels& n, const GpuPlace& sums) {
  std::uint64_t row = std::uint64_t{n.images} * n.channels;
  std::uint32_t segments = (n.pixels + 63) / 64;
  if (segments == 0) return clear(queue, sums, row);
  GpuPlace to =
      segments == 1 ? sums : queue.scratch(Scratch::pairs, row * segments);
  queue.launch(GpuKernel::segment_sums,
               elements(row * segments, 64 * kReadCost), of.x, of.dy, of.mean,
               of.deviations, of.gamma, of.beta, to, n, segments, what);
  add_in_pairs(queue, n.images, segments, n.channels, sums);
}

// means (images, groups) of sums (images, channels), each times gamma if that
// is wanted.
void find_means(GpuQueue& queue, const QPixels& n, const GpuPlace& sums,
                const GpuPlace* gamma, const GpuPlace& means) {
  std::uint32_t channels = n.channels / n.groups;
  auto elements_of_group = static_cast<float>(std::size_t{n.pixels} * channels);
  queue.launch(GpuKernel::row_means,
               GpuWork{std::uint64_t{n.images} * n.groups,
                       kElementCost * (channels + 256)},
               sums, gamma == nullptr ? sums : *gamma, means, channels,
               gamma == nullptr ? 0U : n.groups, elements_of_group);
}

GpuPlace find_deviations(GpuQueue& queue, const QPixels& n, float epsilon,
                         const GpuPlace& variance) {
  std::uint64_t count = std::uint64_t{n.images} * n.groups;
  GpuPlace deviations = queue.scratch(Scratch::deviations, count);
  queue.launch(GpuKernel::deviations, elements(count), count, variance,
               deviations, epsilon);
  return deviations;
}

}  // namespace

void gpu_sum(GpuQueue& queue, const GpuPlace& x, std::uint64_t count,
             bool of_squares, const GpuPlace& result) {
  std::uint64_t blocks = (count + 1023) / 1024;
  if (blocks == 0) return clear(queue, result, 1);
  GpuPlace to = blocks == 1 ? result : queue.scratch(Scratch::pairs, blocks);
  queue.launch(GpuKernel::block_sums,
               GpuWork{(blocks + 7) / 8, kReadCost * 8192}, count, x, to,
               of_squares ? 1U : 0U);
  add_in_pairs(queue, 1, blocks, 1, result);
}

void gpu_sum_pixels(GpuQueue& queue, const GpuPlace& x, const PixelSizes& n,
                    const GpuPlace& sums) {
  sum_pixels(queue, Q_SUM_VALUES, {x, x, x, x, x, x}, pixels_of(n, 1, false),
             sums);
}

void gpu_find_statistics(GpuQueue& queue, const PixelSizes& n,
                         std::size_t groups, const GpuPlace& x,
                         const GpuPlace& mean, const GpuPlace& variance) {
  QPixels pixels = pixels_of(n, groups, false);
  GpuPlace sums = queue.scratch(Scratch::slopes, n.images * n.channels);
  sum_pixels(queue, Q_SUM_VALUES, {x, x, x, x, x, x}, pixels, sums);
  find_means(queue, pixels, sums, nullptr, mean);
  sum_pixels(queue, Q_SUM_DEVIATIONS, {x, x, mean, x, x, x}, pixels, sums);
  find_means(queue, pixels, sums, nullptr, variance);
}

void gpu_normalize(GpuQueue& queue, const PixelSizes& n,
                   const Normalization& how, const NormalizationPlaces& of,
                   const GpuPlace& y) {
  QPixels pixels = pixels_of(n, how.groups, how.relu);
  GpuPlace deviations =
      find_deviations(queue, pixels, how.epsilon, of.variance);
  queue.launch(GpuKernel::normalize_pixels, elements(n.images * n.image()),
               of.x, of.mean, deviations, of.gamma, of.beta, y, pixels);
}

void gpu_normalize_gradient(GpuQueue& queue, const PixelSizes& n,
                            const Normalization& how,
                            const NormalizationPlaces& of, const GpuPlace& dy,
                            const GpuPlace& dx, const GpuPlace& dgamma,
                            const GpuPlace& dbeta) {
  QPixels pixels = pixels_of(n, how.groups, how.relu);
  GpuPlace deviations =
      find_deviations(queue, pixels, how.epsilon, of.variance);
  Summed summed{of.x, dy, of.mean, deviations, of.gamma, of.beta};
  GpuPlace slopes = queue.scratch(Scratch::slopes, n.images * n.channels);
  GpuPlace products = queue.scratch(Scratch::products, n.images * n.channels);
  sum_pixels(queue, Q_SUM_SLOPES, summed, pixels, slopes);
  sum_pixels(queue, Q_SUM_PRODUCTS, summed, pixels, products);
  // The images' sums, added like pixels.
  PixelSizes images{1, n.images, n.channels};
  gpu_sum_pixels(queue, slopes, images, dbeta);
  gpu_sum_pixels(queue, products, images, dgamma);
  std::uint64_t groups = n.images * how.groups;
  GpuPlace mean1 = queue.scratch(Scratch::means, groups);
  GpuPlace mean2 = queue.scratch(Scratch::other_means, groups);
  find_means(queue, pixels, slopes, &of.gamma, mean1);
  find_means(queue, pixels, products, &of.gamma, mean2);
  queue.launch(GpuKernel::normalize_pixels_gradient,
               elements(n.images * n.image()), of.x, dy, of.mean, deviations,
               of.gamma, of.beta, mean1, mean2, dx, pixels);
}

}  // namespace quorate
