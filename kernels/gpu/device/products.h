// Products (docs/numerics.md, sections 3 and 4): in tiles of two sizes; the sum
// of what was split; and convolutions of a few channels, item by item.
//
// Tiles of 128 are faster where there is enough work for them, tiles of 64
// where there is less; gpu/products.cpp decides. Q_RESIDENT is how many groups
// a compute unit shall hold: it bounds the registers of an item (CUDA).
#ifndef QUORATE_KERNELS_GPU_DEVICE_PRODUCTS_H_
#define QUORATE_KERNELS_GPU_DEVICE_PRODUCTS_H_

#include "kernels/gpu/device/operands.h"

// The same text twice: 256 items with 4 x 4 results each, then 8 x 8.
#define Q_TILE 64u
#define Q_SIDE 4u
#define Q_RESIDENT 4
#define Q_SIZED(name) name##_64
#include "kernels/gpu/device/tile-inl.h"
#undef Q_TILE
#undef Q_SIDE
#undef Q_RESIDENT
#undef Q_SIZED

#define Q_TILE 128u
#define Q_SIDE 8u
#define Q_RESIDENT 2
#define Q_SIZED(name) name##_128
#include "kernels/gpu/device/tile-inl.h"
#undef Q_TILE
#undef Q_SIDE
#undef Q_RESIDENT
#undef Q_SIZED

// partials (parts, matrices, rows, cols): sums of segments, which are added in
// order to the running `totals` (matrices, rows, cols), or begin them. If they
// are the last, what follows the product is done and c is written.
Q_KERNEL(add_segments)
(q_word first, Q_INPUT(partials), Q_OUTPUT(totals), Q_OUTPUT(c), Q_INPUT(bias),
 Q_INPUT(addend), const QProduct p, const QConvolution n, const QEpilogue then,
 q_word parts, q_word kind, q_word is_last) {
  Q_AT(partials);
  Q_AT(totals);
  Q_AT(c);
  Q_AT(bias);
  Q_AT(addend);
  const q_size matrix = (q_size)p.rows * p.cols;
  const q_size count = matrix * p.matrices;
  Q_FOR_ELEMENTS(i, count) {
    float total =
        p.first_segment == 0u ? partials[i] : q_add(totals[i], partials[i]);
    // Never in parallel: the order of the segments is part of the result.
    for (q_word part = 1u; part < parts; ++part) {
      total = q_add(total, partials[part * count + i]);
    }
    if (is_last == 0u) {
      totals[i] = total;
    } else {
      const q_word z = (q_word)(i / matrix);
      const q_word m = (q_word)(i % matrix / p.cols);
      const q_size column =
          z / p.inner * p.c_outer + z % p.inner * p.c_inner + i % p.cols;
      const q_size row = q_c_row((int)kind, n, m);
      q_put(c, bias, addend, then, row * p.c_stride + column, column, total);
    }
  }
}

// One result per item, for groups too narrow for tiles. Part `part` of the
// segments of matrix z goes to c as in q_product.
Q_FUNCTION void q_narrow_product(const int kind, q_size i,
                                 Q_GLOBAL const float* a,
                                 Q_GLOBAL const float* b, Q_GLOBAL float* c,
                                 Q_GLOBAL const float* bias,
                                 Q_GLOBAL const float* addend, const QProduct p,
                                 const QConvolution n, const QEpilogue then) {
  // Columns of all matrices lie side by side.
  const q_word column = (q_word)(i % p.cols);
  const q_word z = (q_word)(i / p.cols % p.matrices);
  const q_word m = (q_word)(i / p.cols / p.matrices % p.rows);
  const q_word part = (q_word)(i / p.cols / p.matrices / p.rows);
  const q_word k_begin = (p.first_segment + part * p.segments_per_group) * 256u;
  const q_word k_end = q_least(k_begin + p.segments_per_group * 256u, p.depth);
  const QPatch patch = q_patch(kind, p, n, m, z);
  // Groups of channels lie side by side in the weights and the output.
  b += z * p.b_inner;
  float total = 0.0f;
  for (q_word begin = k_begin; begin < k_end; begin += 256u) {
    const q_word end = q_least(begin + 256u, k_end);
    // A segment's sum starts at +0 and takes k in order (section 3).
    float sum = 0.0f;
    for (q_word k = begin; k < end; ++k) {
      sum = q_fma(q_a_element(kind, n, a, patch, q_step(kind, p, n, k)),
                  b[q_b_at(kind, p, n, column, k, z)], sum);
    }
    total = begin == k_begin ? sum : q_add(total, sum);
  }
  const q_size c_column = (q_size)z * p.c_inner + column;
  // Partial sums lie densely in c, part after part.
  if (p.is_partial != 0u) {
    c[(((q_size)part * p.matrices + z) * p.rows + m) * p.cols + column] = total;
  } else {
    q_put(c, bias, addend, then, q_c_row(kind, n, m) * p.c_stride + c_column,
          c_column, total);
  }
}

// One item reads both factors for each product, through the caches: slower than
// a tile for each product, faster than a tile that is mostly empty.
#define Q_NARROW_KERNEL(name, kind)                                        \
  Q_KERNEL(name)                                                           \
  (q_word first, Q_INPUT(a), Q_INPUT(b), Q_OUTPUT(c), Q_OUTPUT(totals),    \
   Q_INPUT(bias), Q_INPUT(addend), const QProduct p, const QConvolution n, \
   const QEpilogue then) {                                                 \
    Q_AT(a);                                                               \
    Q_AT(b);                                                               \
    Q_AT(c);                                                               \
    Q_AT(bias);                                                            \
    Q_AT(addend);                                                          \
    const q_word parts =                                                   \
        (p.segments + p.segments_per_group - 1u) / p.segments_per_group;   \
    Q_FOR_ELEMENTS(i, (q_size)p.rows* p.cols* p.matrices* parts) {         \
      q_narrow_product(kind, i, a, b, c, bias, addend, p, n, then);        \
    }                                                                      \
  }

// Parameters as those of the tiled kernels, so that one launch serves both;
// totals is not used.
Q_NARROW_KERNEL(narrow_convolution, Q_FORWARD)
Q_NARROW_KERNEL(narrow_convolution_dx, Q_INPUT_SLOPES)
Q_NARROW_KERNEL(narrow_convolution_dw, Q_WEIGHT_SLOPES)

#endif  // QUORATE_KERNELS_GPU_DEVICE_PRODUCTS_H_
