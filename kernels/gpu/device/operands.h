// Where the factors of a product lie (docs/numerics.md, sections 3 and 4): the
// element at row m, or column n, and k of either, as a place in memory. Nothing
// is materialised.
//
// A product of a convolution is an implicit one ("implicit GEMM"): its rows are
// pixels or taps, and what im2col would have written is computed as an address.
// q_patch decodes a row once, q_step a place along k; adding both gives the
// element. Every `kind` is a constant where these are called, so a compiler
// keeps one branch of each.
#ifndef QUORATE_KERNELS_GPU_DEVICE_OPERANDS_H_
#define QUORATE_KERNELS_GPU_DEVICE_OPERANDS_H_

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/device/language.h"

// Kinds of products, constants in every kernel.
#define Q_AB 0             // a[m][k] b[k][n]
#define Q_ATB 1            // a[k][m] b[k][n]
#define Q_ABT 2            // a[m][k] b[n][k]
#define Q_FORWARD 3        // a: patches of x, b: w
#define Q_INPUT_SLOPES 4   // a: patches of dy, b: w with its taps turned
#define Q_WEIGHT_SLOPES 5  // a: patches of x, turned; b: dy

// Neighbouring items read along k, where that is how memory lies, or along the
// rows or columns.
// Memory serves neighbouring items best when they read neighbouring words.
#define q_a_runs_along_k(kind)                                 \
  ((kind) == Q_AB || (kind) == Q_ABT || (kind) == Q_FORWARD || \
   (kind) == Q_INPUT_SLOPES)
#define q_b_runs_along_k(kind) ((kind) == Q_ABT || (kind) == Q_INPUT_SLOPES)

// number / by, rounded down; number below 2^31. See divisor_of.
Q_FUNCTION q_word q_divide(q_word number, const QDivisor by) {
  return (q_high_product(number, by.multiplier) + number) >> by.shift;
}

// A row of a, decoded once: its pixel and what comes before it in memory.
typedef struct {
  q_size base;
  int row, col;  // of the first tap, may lie outside of the image
} QPatch;

// A place along k, decoded once for all rows.
typedef struct {
  int row, col;  // of the tap, or of the output pixel
  q_word channel;
  q_size base;
} QStep;

// Row m of a, in matrix z: for a convolution, z is the group of channels.
Q_FUNCTION QPatch q_patch(const int kind, const QProduct p,
                          const QConvolution n, q_word m, q_word z) {
  QPatch patch = {0u, 0, 0};
  if (kind == Q_AB || kind == Q_ABT) {
    patch.base = (q_size)m * p.a_stride;
  } else if (kind == Q_ATB) {
    patch.base = m;
  } else if (kind == Q_WEIGHT_SLOPES) {  // m: tap and channel
    const q_word tap = q_divide(m, n.by_channels);
    const q_word row = q_divide(tap, n.by_width);
    // The tap's place relative to a window that begins at pixel 0.
    patch.row = (int)row - (int)n.padding;
    patch.col = (int)(tap - row * n.kernel_width) - (int)n.padding;
    patch.base = (q_size)z * n.group_in + (m - tap * n.group_in);
  } else {  // m: a pixel
    const q_word image = q_divide(m, n.by_image);
    const q_word pixel = m - image * n.by_image.divisor;
    const q_word row = q_divide(pixel, n.by_row);
    const q_word col = pixel - row * n.by_row.divisor;
    if (kind == Q_FORWARD) {
      // Where the window begins in x.
      patch.row = (int)(row * n.stride) - (int)n.padding;
      patch.col = (int)(col * n.stride) - (int)n.padding;
      patch.base = (q_size)image * n.in_height * n.in_width * n.in_channels +
                   (q_size)z * n.group_in;
    } else {
      // The output pixel that the phase's first tap belongs to; later taps lie
      // to the left of it and above.
      patch.row = (int)(row + n.shift_row);
      patch.col = (int)(col + n.shift_col);
      patch.base = (q_size)image * n.out_height * n.out_width * n.out_channels +
                   (q_size)z * n.group_out;
    }
  }
  return patch;
}

// Place k of the sum: a tap and channel, or an output pixel (section 4).
Q_FUNCTION QStep q_step(const int kind, const QProduct p, const QConvolution n,
                        q_word k) {
  QStep step = {0, 0, 0u, 0u};
  if (kind == Q_AB || kind == Q_ABT) {
    step.base = k;
  } else if (kind == Q_ATB) {
    step.base = (q_size)k * p.a_stride;
  } else if (kind == Q_WEIGHT_SLOPES) {  // k: an output pixel
    const q_word image = q_divide(k, n.by_image);
    const q_word pixel = k - image * n.by_image.divisor;
    const q_word row = q_divide(pixel, n.by_row);
    step.row = (int)(row * n.stride);
    step.col = (int)((pixel - row * n.by_row.divisor) * n.stride);
    step.base = (q_size)image * n.in_height * n.in_width * n.in_channels;
  } else {  // k: tap and channel
    const q_word tap = q_divide(k, n.by_channels);
    const q_word row = q_divide(tap, n.by_width);
    step.row = (int)row;
    step.col = (int)(tap - row * n.by_width.divisor);
    step.channel = k - tap * n.by_channels.divisor;
  }
  return step;
}

// An element of a: +0 outside of the image.
Q_FUNCTION float q_a_element(const int kind, const QConvolution n,
                             Q_GLOBAL const float* a, const QPatch patch,
                             const QStep step) {
  if (kind == Q_AB || kind == Q_ABT || kind == Q_ATB) {
    return a[patch.base + step.base];
  }
  // x is read forward from a window's corner, dy backward.
  const int turned = kind == Q_INPUT_SLOPES;
  const q_word row =
      (q_word)(turned ? patch.row - step.row : patch.row + step.row);
  const q_word col =
      (q_word)(turned ? patch.col - step.col : patch.col + step.col);
  const q_word height = turned ? n.out_height : n.in_height;
  const q_word width = turned ? n.out_width : n.in_width;
  const q_word channels = turned ? n.out_channels : n.in_channels;
  // Negative positions are large as words.
  if (row >= height || col >= width) return 0.0f;
  return a[patch.base + step.base + ((q_size)row * width + col) * channels +
           step.channel];
}

// An element of b at column n. Its step along k is that of a.
Q_FUNCTION q_size q_b_at(const int kind, const QProduct p, const QConvolution n,
                         q_word column, q_word k, q_word z) {
  // Weights, dy and plain matrices lie with their columns side by side.
  if (kind == Q_ABT) return (q_size)column * p.b_stride + k;
  if (kind != Q_INPUT_SLOPES) return (q_size)k * p.b_stride + column;
  const q_word tap = q_divide(k, n.by_channels);
  const q_word row = q_divide(tap, n.by_width);
  const q_word col = tap - row * n.by_width.divisor;
  // The tap in the kernel: the phase's first, then every stride-th.
  const q_size at = (q_size)(n.phase_row + row * n.stride) * n.kernel_width +
                    n.phase_col + col * n.stride;
  return (at * n.group_in + column) * n.out_channels + (q_size)z * n.group_out +
         (k - tap * n.by_channels.divisor);
}

// Which row of c the row m of a product is.
Q_FUNCTION q_size q_c_row(const int kind, const QConvolution n, q_word m) {
  // With a stride, a phase's pixels are spread over the image.
  if (kind != Q_INPUT_SLOPES || n.stride == 1u) return m;
  const q_word image = q_divide(m, n.by_image);
  const q_word pixel = m - image * n.by_image.divisor;
  const q_word row = q_divide(pixel, n.by_row);
  const q_word col = pixel - row * n.by_row.divisor;
  return ((q_size)image * n.in_height + n.first_row + row * n.stride) *
             n.in_width +
         n.first_col + col * n.stride;
}

// What follows the sum (section 7, epilogues), then the store: the addend lies
// as c does and may be it.
Q_FUNCTION void q_put(Q_GLOBAL float* c, Q_GLOBAL const float* bias,
                      Q_GLOBAL const float* addend, const QEpilogue then,
                      q_size at, q_size column, float value) {
  if (then.has_bias != 0u) value = q_add(value, bias[column]);
  if (then.has_addend != 0u) value = q_add(addend[at], value);
  if (then.has_relu != 0u) value = canonical_relu(value);
  c[at] = value;
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_OPERANDS_H_
