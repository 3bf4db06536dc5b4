// Sums of contiguous values in R1 order (docs/numerics.md, section 5).
//
// R1 fits a group of 256 items: its 32 lanes are 32 items, so a group sums
// eight blocks at a time. Every function with a barrier must be called by all
// items of the group.
#ifndef QUORATE_KERNELS_GPU_DEVICE_SUMS_H_
#define QUORATE_KERNELS_GPU_DEVICE_SUMS_H_

#include "kernels/gpu/device/language.h"

// The binary counter of partial sums (PairSum), kept by one item of a group.
typedef struct {
  // partials[l]: the sum of 2^l values, if bit l of count is set.
  float partials[32];
  q_word count;
} QPairs;

// Adds the next value: like a carry, it meets each full level on its way.
Q_FUNCTION void q_push(QPairs* pairs, float value) {
  q_word level = 0u;
  for (; (pairs->count >> level & 1u) != 0u; ++level) {
    value = q_add(pairs->partials[level], value);
  }
  pairs->partials[level] = value;
  pairs->count += 1u;
}

// The sum of what was pushed, +0 for nothing. Changes nothing.
Q_FUNCTION float q_total(const QPairs* pairs) {
  float sum = 0.0f;
  int is_empty = 1;
  for (q_word level = 0u; level < 32u; ++level) {
    if ((pairs->count >> level & 1u) == 0u) continue;
    sum =
        is_empty ? pairs->partials[level] : q_add(pairs->partials[level], sum);
    is_empty = 0;
  }
  return sum;
}

// The values of the eight blocks of 1024 from `begin` on, of count elements, in
// lanes[0], lanes[32], ... Each block has 32 items. With y, products of x and
// y are summed.
Q_FUNCTION void q_block_values(const int is_dot, Q_GLOBAL const float* x,
                               Q_GLOBAL const float* y, q_size begin,
                               q_size count, Q_SHARED_POINTER float* lanes) {
  // An item is one lane of one block: it adds every 32nd element.
  const q_word item = q_item();
  const q_word lane = item & 31u;
  const q_size block = begin + (q_size)(item >> 5) * 1024u;
  float sum = 0.0f;
  for (q_word j = 0u; j < 32u; ++j) {
    const q_size i = block + lane + 32u * j;
    if (i < count) sum = is_dot ? q_fma(x[i], y[i], sum) : q_add(sum, x[i]);
  }
  q_barrier();  // whoever reads the lanes of before is done
  lanes[item] = sum;
  // The tree over a block's 32 lanes; blocks do not mix.
  for (q_word h = 16u; h > 0u; h >>= 1) {
    q_barrier();
    if (lane < h) lanes[item] = q_add(lanes[item], lanes[item + h]);
  }
  q_barrier();
}

// R1 of `count` elements, for every item of the group. lanes: 256 of them,
// result: one.
Q_FUNCTION float q_row_sum(const int is_dot, Q_GLOBAL const float* x,
                           Q_GLOBAL const float* y, q_word count,
                           Q_SHARED_POINTER float* lanes,
                           Q_SHARED_POINTER float* result) {
  // Item 0 adds the blocks' values in pairs, as they come.
  QPairs pairs;
  pairs.count = 0u;
  for (q_size begin = 0u; begin < count; begin += 8192u) {
    q_block_values(is_dot, x, y, begin, count, lanes);
    if (q_item() == 0u) {
      for (q_word b = 0u; b < 8u && begin + b * 1024u < count; ++b) {
        q_push(&pairs, lanes[b * 32u]);
      }
    }
  }
  if (q_item() == 0u) *result = q_total(&pairs);
  q_barrier();
  return *result;
}

// sums[b] = the value of block b. One group makes eight.
// The host adds them in pairs afterwards (add_row_pairs).
Q_KERNEL(block_sums)
(q_word first, q_size count, Q_INPUT(x), Q_OUTPUT(sums), q_word is_dot) {
  Q_AT(x);
  Q_AT(sums);
  Q_SHARED float lanes[256];
  const q_size begin = (q_size)q_group() * 8192u;
  // Both calls are the same but for a constant, so that a compiler drops the
  // branch from the inner loop.
  if (is_dot) {
    q_block_values(1, x, x, begin, count, lanes);
  } else {
    q_block_values(0, x, x, begin, count, lanes);
  }
  const q_word item = q_item();
  if (item < 8u && begin + item * 1024u < count) {
    sums[(q_size)q_group() * 8u + item] = lanes[item * 32u];
  }
}

// means[r] = div(R1 of row r of x (., cols), or its dot with a row of gamma,
// elements). Row r takes row r % gamma_rows of gamma.
// One group a row. elements: as a number, rounded by the host.
Q_KERNEL(row_means)
(q_word first, Q_INPUT(x), Q_INPUT(gamma), Q_OUTPUT(means), q_word cols,
 q_word gamma_rows, float elements) {
  Q_AT(x);
  Q_AT(gamma);
  Q_AT(means);
  Q_SHARED float lanes[256];
  Q_SHARED float result[1];
  const q_word row = q_group();
  x += (q_size)row * cols;
  float sum;
  if (gamma_rows != 0u) {
    gamma += (q_size)(row % gamma_rows) * cols;
    sum = q_row_sum(1, x, gamma, cols, lanes, result);
  } else {
    sum = q_row_sum(0, x, x, cols, lanes, result);
  }
  if (q_item() == 0u) means[row] = q_div(sum, elements);
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_SUMS_H_
