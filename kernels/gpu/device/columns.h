// Sums over rows, for every column apart, in R2 order (docs/numerics.md,
// section 5), and what normalization makes of them. One item for each result.
#ifndef QUORATE_KERNELS_GPU_DEVICE_COLUMNS_H_
#define QUORATE_KERNELS_GPU_DEVICE_COLUMNS_H_

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/device/language.h"

// What is needed to say which number of an element is summed.
typedef struct {
  Q_GLOBAL const float* x;
  Q_GLOBAL const float* dy;
  Q_GLOBAL const float* mean;   // (images, groups)
  Q_GLOBAL const float* scale;  // 1 / deviation, alike
  Q_GLOBAL const float* gamma;
  Q_GLOBAL const float* beta;
} QNormalized;

// (x - mean) times scale, of one element.
Q_FUNCTION float q_normalized(const QNormalized of, q_size at, q_size group) {
  return q_mul(q_sub(of.x[at], of.mean[group]), of.scale[group]);
}

// dy after the relu, if there is one.
Q_FUNCTION float q_slope(const QNormalized of, q_size at, q_word channel,
                         float normalized, q_word has_relu) {
  if (has_relu == 0u) return of.dy[at];
  return canonical_relu_gradient(
      q_fma(normalized, of.gamma[channel], of.beta[channel]), of.dy[at]);
}

// sums (images, segments, channels): of the 64 pixels of each segment.
Q_KERNEL(segment_sums)
(q_word first, Q_INPUT(x), Q_INPUT(dy), Q_INPUT(mean), Q_INPUT(scale),
 Q_INPUT(gamma), Q_INPUT(beta), Q_OUTPUT(sums), const QPixels n,
 q_word segments, q_word what) {
  Q_AT(x);
  Q_AT(dy);
  Q_AT(mean);
  Q_AT(scale);
  Q_AT(gamma);
  Q_AT(beta);
  Q_AT(sums);
  QNormalized of = {x, dy, mean, scale, gamma, beta};
  Q_FOR_ELEMENTS(i, (q_size)n.images * segments * n.channels) {
    const q_word channel = (q_word)(i % n.channels);
    const q_word segment = (q_word)(i / n.channels % segments);
    const q_word image = (q_word)(i / n.channels / segments);
    const q_size group =
        (q_size)image * n.groups + channel / (n.channels / n.groups);
    const q_word begin = segment * 64u;
    const q_word end = q_least(begin + 64u, n.pixels);
    float sum = 0.0f;
    for (q_word pixel = begin; pixel < end; ++pixel) {
      const q_size at =
          ((q_size)image * n.pixels + pixel) * n.channels + channel;
      if (what == Q_SUM_VALUES) {
        sum = q_add(sum, x[at]);
      } else if (what == Q_SUM_DEVIATIONS) {
        const float d = q_sub(x[at], mean[group]);
        sum = q_fma(d, d, sum);
      } else {
        const float normalized = q_normalized(of, at, group);
        const float slope = q_slope(of, at, channel, normalized, n.has_relu);
        sum = what == Q_SUM_SLOPES ? q_add(sum, slope)
                                   : q_fma(slope, normalized, sum);
      }
    }
    sums[i] = sum;
  }
}

// Four levels of adding in pairs, of up to 16 values `stride` apart.
// count: 1 to 16; an odd last value passes on unchanged.
Q_FUNCTION float q_add_in_pairs(Q_GLOBAL const float* x, q_word count,
                                q_size stride) {
  float v[16];
  for (q_word i = 0u; i < 16u; ++i) {
    v[i] = i < count ? x[i * stride] : 0.0f;
  }
  Q_UNROLL for (q_word width = 8u; width > 0u; width >>= 1) {
    Q_UNROLL for (q_word i = 0u; i < 8u; ++i) {
      if (i < width) {
        v[i] =
            2u * i + 1u < count ? q_add(v[2u * i], v[2u * i + 1u]) : v[2u * i];
      }
    }
    count = (count + 1u) / 2u;
  }
  return v[0];
}

// y (images, ceil(rows / 16), channels): four levels of pairs over the rows of
// x (images, rows, channels).
Q_KERNEL(add_row_pairs)
(q_word first, Q_INPUT(x), Q_OUTPUT(y), q_word images, q_word rows,
 q_word channels) {
  Q_AT(x);
  Q_AT(y);
  const q_word results = (rows + 15u) / 16u;
  Q_FOR_ELEMENTS(i, (q_size)images * results * channels) {
    const q_word channel = (q_word)(i % channels);
    const q_word result = (q_word)(i / channels % results);
    const q_word image = (q_word)(i / channels / results);
    const q_word row = result * 16u;
    y[i] = q_add_in_pairs(x + ((q_size)image * rows + row) * channels + channel,
                          q_least(rows - row, 16u), channels);
  }
}

// scale[i] = div(1, sqrt(variance[i] + epsilon)).
// The reciprocal of each group's standard deviation.
Q_KERNEL(deviations)
(q_word first, q_size count, Q_INPUT(variance), Q_OUTPUT(scale),
 float epsilon) {
  Q_AT(variance);
  Q_AT(scale);
  Q_FOR_ELEMENTS(i, count) {
    scale[i] = q_div(1.0f, q_sqrt(q_add(variance[i], epsilon)));
  }
}

// y = the normalized value of each element, times gamma plus beta, then relu.
// scale is 1 / deviation, as `deviations` made it.
Q_KERNEL(normalize_pixels)
(q_word first, Q_INPUT(x), Q_INPUT(mean), Q_INPUT(scale), Q_INPUT(gamma),
 Q_INPUT(beta), Q_OUTPUT(y), const QPixels n) {
  Q_AT(x);
  Q_AT(mean);
  Q_AT(scale);
  Q_AT(gamma);
  Q_AT(beta);
  Q_AT(y);
  const q_size image = (q_size)n.pixels * n.channels;
  Q_FOR_ELEMENTS(i, n.images * image) {
    const q_word channel = (q_word)(i % n.channels);
    const q_size group =
        i / image * n.groups + channel / (n.channels / n.groups);
    const float value = q_fma(q_mul(q_sub(x[i], mean[group]), scale[group]),
                              gamma[channel], beta[channel]);
    y[i] = n.has_relu != 0u ? canonical_relu(value) : value;
  }
}

// mean1, mean2 (images, groups): of the slopes, and of their products with the
// normalized values, times gamma. dx may be dy.
Q_KERNEL(normalize_pixels_gradient)
(q_word first, Q_INPUT(x), Q_INPUT(dy), Q_INPUT(mean), Q_INPUT(scale),
 Q_INPUT(gamma), Q_INPUT(beta), Q_INPUT(mean1), Q_INPUT(mean2), Q_OUTPUT(dx),
 const QPixels n) {
  Q_AT(x);
  Q_AT(dy);
  Q_AT(mean);
  Q_AT(scale);
  Q_AT(gamma);
  Q_AT(beta);
  Q_AT(mean1);
  Q_AT(mean2);
  Q_AT(dx);
  QNormalized of = {x, dy, mean, scale, gamma, beta};
  const q_size image = (q_size)n.pixels * n.channels;
  Q_FOR_ELEMENTS(i, n.images * image) {
    const q_word channel = (q_word)(i % n.channels);
    const q_size group =
        i / image * n.groups + channel / (n.channels / n.groups);
    const float normalized = q_normalized(of, i, group);
    const float slope = q_slope(of, i, channel, normalized, n.has_relu);
    dx[i] = q_mul(scale[group],
                  q_fma(q_negate(normalized), mean2[group],
                        q_sub(q_mul(slope, gamma[channel]), mean1[group])));
  }
}

// y (images, pixels, channels): x (images, channels) times factor, everywhere.
Q_KERNEL(spread_pixels)
(q_word first, Q_INPUT(x), Q_OUTPUT(y), const QPixels n, float factor) {
  Q_AT(x);
  Q_AT(y);
  const q_size image = (q_size)n.pixels * n.channels;
  Q_FOR_ELEMENTS(i, n.images * image) {
    y[i] = q_mul(x[i / image * n.channels + i % n.channels], factor);
  }
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_COLUMNS_H_
