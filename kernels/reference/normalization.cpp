#include "kernels/reference/normalization.h"

#include <cmath>
#include <vector>

#include "base/arithmetic.h"
#include "kernels/elementary.h"
#include "kernels/reference/row_sum.h"

namespace quorate::reference {
namespace {

// Sizes of one group, and where its parts lie.
struct Groups {
  PixelSizes n;
  std::size_t count = 1;

  std::size_t channels() const { return n.channels / count; }
  float elements() const { return static_cast<float>(n.pixels * channels()); }
  std::size_t of(std::size_t image, std::size_t channel) const {
    return image * count + channel / channels();
  }
};

// f(image, pixel, channel, offset) for all elements.
template <class F>
void for_elements(const PixelSizes& n, F f) {
  for (std::size_t image = 0; image < n.images; ++image) {
    for (std::size_t pixel = 0; pixel < n.pixels; ++pixel) {
      for (std::size_t c = 0; c < n.channels; ++c) {
        f(image, c, image * n.image() + pixel * n.channels + c);
      }
    }
  }
}

// Sums over the pixels, per image and channel: f(sum, image, channel, offset)
// pushes an element.
template <class F>
std::vector<float> sum_pixels(const PixelSizes& n, F f) {
  std::vector<RowSum> sums(n.images * n.channels);
  for_elements(n, [&](std::size_t image, std::size_t c, std::size_t at) {
    f(sums[image * n.channels + c], image, c, at);
  });
  std::vector<float> totals;
  for (const RowSum& sum : sums) totals.push_back(sum.total());
  return totals;
}

float reciprocal_deviation(float variance, float epsilon) {
  return 1.0F / std::sqrt(variance + epsilon);
}

}  // namespace

void find_statistics(const PixelSizes& n, std::size_t groups, const float* x,
                     float* mean, float* variance) {
  const Groups g{n, groups};
  // The mean of channel sums over each group.
  auto put_means = [&](const std::vector<float>& sums, float* to) {
    for (std::size_t i = 0; i < n.images * groups; ++i) {
      to[i] = sum_r1(std::span(sums).subspan(i * g.channels(), g.channels())) /
              g.elements();
    }
  };
  put_means(sum_pixels(n, [&](RowSum& sum, std::size_t, std::size_t,
                              std::size_t at) { sum.push(x[at]); }),
            mean);
  put_means(sum_pixels(n,
                       [&](RowSum& sum, std::size_t image, std::size_t c,
                           std::size_t at) {
                         float d = x[at] - mean[g.of(image, c)];
                         sum.push(d, d);
                       }),
            variance);
}

void normalize(const PixelSizes& n, const Normalization& how, const float* x,
               const float* mean, const float* variance, const float* gamma,
               const float* beta, float* y) {
  const Groups g{n, how.groups};
  for_elements(n, [&](std::size_t image, std::size_t c, std::size_t at) {
    std::size_t group = g.of(image, c);
    float rs = reciprocal_deviation(variance[group], how.epsilon);
    float value = fma((x[at] - mean[group]) * rs, gamma[c], beta[c]);
    y[at] = how.relu ? canonical_relu(value) : value;
  });
}

void normalize_gradient(const PixelSizes& n, const Normalization& how,
                        const NormalizationGradient& of) {
  const Groups g{n, how.groups};
  struct Element {
    float xh;
    float dy;  // after the relu, if there is one
  };
  auto element = [&](std::size_t image, std::size_t c, std::size_t at) {
    std::size_t group = g.of(image, c);
    float rs = reciprocal_deviation(of.variance[group], how.epsilon);
    float xh = (of.x[at] - of.mean[group]) * rs;
    float y = fma(xh, of.gamma[c], of.beta[c]);
    return Element{
        xh, how.relu ? canonical_relu_gradient(y, of.dy[at]) : of.dy[at]};
  };
  std::vector<float> slopes = sum_pixels(
      n, [&](RowSum& sum, std::size_t image, std::size_t c, std::size_t at) {
        sum.push(element(image, c, at).dy);
      });
  std::vector<float> products = sum_pixels(
      n, [&](RowSum& sum, std::size_t image, std::size_t c, std::size_t at) {
        Element e = element(image, c, at);
        sum.push(e.dy, e.xh);
      });
  for (std::size_t c = 0; c < n.channels; ++c) {
    RowSum dbeta;
    RowSum dgamma;
    for (std::size_t image = 0; image < n.images; ++image) {
      dbeta.push(slopes[image * n.channels + c]);
      dgamma.push(products[image * n.channels + c]);
    }
    of.dbeta[c] = dbeta.total();
    of.dgamma[c] = dgamma.total();
  }
  auto mean_times_gamma = [&](const std::vector<float>& sums) {
    std::vector<float> means;
    for (std::size_t i = 0; i < n.images * how.groups; ++i) {
      std::size_t first = i % how.groups * g.channels();
      means.push_back(
          dot_r1(std::span(sums).subspan(i * g.channels(), g.channels()),
                 {of.gamma + first, g.channels()}) /
          g.elements());
    }
    return means;
  };
  std::vector<float> c1 = mean_times_gamma(slopes);
  std::vector<float> c2 = mean_times_gamma(products);
  for_elements(n, [&](std::size_t image, std::size_t c, std::size_t at) {
    std::size_t group = g.of(image, c);
    Element e = element(image, c, at);
    float rs = reciprocal_deviation(of.variance[group], how.epsilon);
    of.dx[at] = rs * fma(-e.xh, c2[group], e.dy * of.gamma[c] - c1[group]);
  });
}

}  // namespace quorate::reference
