#include "kernels/cpu/pooler.h"

namespace quorate {

template <class F>
void Pooler::for_images(const PoolingSizes& n, const F& f) {
  tasks_.run(n.in.images, n.in.images * n.in.image(), [&](std::size_t image) {
    f(image * n.in.image(), image * n.out.image());
  });
}

void Pooler::max(const PoolingSizes& n, const Pooling& how, const float* x,
                 float* y) {
  for_images(n, [&](std::size_t in, std::size_t out) {
    pooling_.max_pool(n, how, x + in, y + out);
  });
}

void Pooler::max_gradient(const PoolingSizes& n, const Pooling& how,
                          const float* x, const float* dy, float* dx) {
  for_images(n, [&](std::size_t in, std::size_t out) {
    pooling_.max_pool_gradient(n, how, x + in, dy + out, dx + in);
  });
}

void Pooler::average(const PoolingSizes& n, const Pooling& how,
                     float reciprocal, const float* x, float* y) {
  for_images(n, [&](std::size_t in, std::size_t out) {
    pooling_.average_pool(n, how, reciprocal, x + in, y + out);
  });
}

void Pooler::average_gradient(const PoolingSizes& n, const Pooling& how,
                              float reciprocal, const float* dy, float* dx) {
  for_images(n, [&](std::size_t in, std::size_t out) {
    pooling_.average_pool_gradient(n, how, reciprocal, dy + out, dx + in);
  });
}

void Pooler::mean(const PixelSizes& n, float reciprocal, const float* x,
                  float* y) {
  std::size_t segments = segment_count(n.pixels);
  sums_.reserve(segments * n.channels);
  auto mean_of = [&](std::size_t image, unsigned thread) {
    float* sums = sums_[thread];
    reduction_.segment_sums(x + image * n.image(), n.channels, n.pixels,
                            n.channels, sums);
    reduction_.add_pairs(sums, segments, n.channels);
    elementwise_.scale(sums, reciprocal, y + image * n.channels, n.channels);
  };
  tasks_.run(n.images, n.images * n.image(), mean_of);
}

void Pooler::mean_gradient(const PixelSizes& n, float reciprocal,
                           const float* dy, float* dx) {
  tasks_.for_rows({n.images * n.pixels, n.channels}, [&](std::size_t row) {
    elementwise_.scale(dy + row / n.pixels * n.channels, reciprocal,
                       dx + row * n.channels, n.channels);
  });
}

}  // namespace quorate
