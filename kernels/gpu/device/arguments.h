// What kernels are told besides arrays: the host (C++) fills these, kernels
// (OpenCL C, CUDA) read them. Members of 8 bytes come first, so that all agree
// on the layout.
//
// Passed by value. A change here changes the kernels and the host at once,
// since both compile this file; there is nothing to keep compatible. Counts are
// below 2^31 (gpu_word), so that sums of two do not wrap; offsets into arrays
// are 64 bits.
#ifndef QUORATE_KERNELS_GPU_DEVICE_ARGUMENTS_H_
#define QUORATE_KERNELS_GPU_DEVICE_ARGUMENTS_H_

#include "kernels/primitives.h"

// The functions of kernels/operations.h, by the numbers of their enum.
#define Q_EXP 0u
#define Q_LOG 1u
#define Q_TANH 2u
#define Q_SIGMOID 3u
#define Q_ERF 4u
#define Q_RSQRT 5u
#define Q_RELU 6u
#define Q_GELU 7u
#define Q_SILU 8u

// A divisor as a multiplication and a shift: of numbers below 2^31.
typedef struct {
  // See divisor_of() and q_divide(); a divisor of 0 is never sent.
  q_word divisor;
  q_word multiplier;
  q_word shift;
} QDivisor;

// Which part of k a tile of 64 rows sums over, from its first row on.
#define Q_ALL_K 0u
#define Q_K_TO_ROWS 1u    // k below the end of the tile: causal
#define Q_K_FROM_ROWS 2u  // k from the tile's first row

// A product in tiles, for each of several matrices. Matrix z of a lies at
// z / inner * a_outer + z % inner * a_inner; b and c alike.
typedef struct {
  q_long a_outer, a_inner, b_outer, b_inner, c_outer, c_inner;
  // Heads of a sequence, or groups of channels; 1 for a single product.
  q_word inner;
  q_word matrices;
  q_word rows, cols, depth;
  q_word a_stride, b_stride, c_stride;  // elements from row to row as stored
  // Only attention has other than Q_ALL_K, and then segments are not split.
  q_word range;  // Q_ALL_K ...
  // Segments that one group sums, and where they begin; partial sums of one
  // segment each go to c, one after another.
  q_word first_segment, segments, segments_per_group;
  q_word is_partial;
} QProduct;

// What follows a product; the arrays are only read if these say so.
typedef struct {
  q_word has_bias, has_addend, has_relu;
} QEpilogue;

// A convolution as one of the products of docs/numerics.md, section 4. The
// gradient of x is computed apart for each of the `stride` x `stride` phases
// of input pixels, whose windows lie on the same taps.
typedef struct {
  // What m or k is divided by, to find image, row and column, tap and channel.
  QDivisor by_image, by_row;       // pixels of an image, and of its row
  QDivisor by_channels, by_width;  // of a tap, and taps in a row of them
  q_word in_height, in_width, in_channels;     // x
  q_word out_height, out_width, out_channels;  // y
  q_word kernel_width;
  q_word group_in, group_out;  // channels of one group
  q_word stride, padding;
  // The next three are of the gradient of x, zeros otherwise.
  q_word phase_row, phase_col;  // the first tap of a phase
  q_word first_row, first_col;  // the first input pixel of a phase
  q_word shift_row, shift_col;  // the output pixel of that tap and pixel
} QConvolution;

// Windows over images.
typedef struct {
  // See PoolingSizes and Pooling.
  q_word images, in_height, in_width, out_height, out_width, channels;
  q_word size, stride, padding;
} QPooling;

// Arrays (images, pixels, channels) in groups of channels.
typedef struct {
  // See PixelSizes and Normalization.
  q_word images, pixels, channels, groups;
  q_word has_relu;
} QPixels;

// Which number of an element is summed over pixels.
// See the kernel segment_sums; the sums feed a normalization.
#define Q_SUM_VALUES 0u
#define Q_SUM_DEVIATIONS 1u  // squares of the distance from the mean
#define Q_SUM_SLOPES 2u      // dy, after the relu if there is one
#define Q_SUM_PRODUCTS 3u    // dy times the normalized value

typedef struct {
  // See Dropout; the key in two words, as GPUs count in 32 bits.
  q_word key_low, key_high, stream, step;
  q_word threshold;
  float scale;
} QDropout;

typedef struct {
  // See SgdStep.
  float learning_rate, momentum, weight_decay;
} QSgd;

typedef struct {
  // See AdamWStep.
  float learning_rate, beta1, one_minus_beta1, beta2, one_minus_beta2;
  float correction1, correction2, epsilon, weight_decay;
} QAdamW;

typedef struct {
  // See AttentionSizes.
  q_word batch, length, heads, head_size;
} QAttention;

#endif  // QUORATE_KERNELS_GPU_DEVICE_ARGUMENTS_H_
