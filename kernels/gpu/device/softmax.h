// What is made of whole rows of a matrix (docs/numerics.md, section 7). One
// group for each row.
//
// A row's items share it by turns (item, item + 256, ...). Sums over it go
// through q_row_sum, in R1 order; maxima may be taken in any order.
//
// Rejected: the softmax that rescales while it streams, and the attention that
// is built on it. It reads a row once instead of three times, but its sum
// depends on where the maximum lies.
#ifndef QUORATE_KERNELS_GPU_DEVICE_SOFTMAX_H_
#define QUORATE_KERNELS_GPU_DEVICE_SOFTMAX_H_

#include "kernels/gpu/device/sums.h"

// The greatest of count values, for every item. A NaN may or may not win: the
// row becomes NaN either way (section 7).
// count: at least 1. lanes: 256 of the group's memory, whose old content is
// lost. All items of the group must call it, as it has barriers.
Q_FUNCTION float q_row_max(Q_GLOBAL const float* x, q_word count,
                           Q_SHARED_POINTER float* lanes) {
  float most = x[0];
  for (q_word j = q_item(); j < count; j += Q_GROUP_ITEMS) {
    most = x[j] > most ? x[j] : most;
  }
  q_barrier();
  lanes[q_item()] = most;
  for (q_word h = 128u; h > 0u; h >>= 1) {
    q_barrier();
    if (q_item() < h) {
      const float other = lanes[q_item() + h];
      if (other > lanes[q_item()]) lanes[q_item()] = other;
    }
  }
  q_barrier();
  return lanes[0];
}

// As Backend::softmax_cross_entropy: losses (rows), dlogits (rows,cols). The
// exponentials lie in dlogits between the passes; so each is computed once, and
// the row needs no memory of its own.
Q_KERNEL(softmax_cross_entropy)
(q_word first, Q_INPUT(logits), Q_WORDS(targets), Q_OUTPUT(losses),
 Q_OUTPUT(dlogits), q_word cols, float scale) {
  Q_AT(logits);
  Q_AT(targets);
  Q_AT(losses);
  Q_AT(dlogits);
  Q_SHARED float lanes[256];
  Q_SHARED float result[1];
  const q_word row = q_group();
  const q_word target = targets[row];
  Q_GLOBAL const float* x = logits + (q_size)row * cols;
  Q_GLOBAL float* dx = dlogits + (q_size)row * cols;
  const float m = q_row_max(x, cols, lanes);
  // Every item reads it before any writes: see the barrier.
  const float at_target = x[target];
  q_barrier();  // dlogits may be logits
  for (q_word j = q_item(); j < cols; j += Q_GROUP_ITEMS) {
    dx[j] = canonical_exp(q_sub(x[j], m));
  }
  q_barrier();
  // The sum over all columns, in R1 order, then the probabilities.
  const float s = q_row_sum(0, dx, dx, cols, lanes, result);
  const float r = q_div(1.0f, s);
  for (q_word j = q_item(); j < cols; j += Q_GROUP_ITEMS) {
    const float p = q_mul(dx[j], r);
    dx[j] = q_mul(q_sub(p, j == target ? 1.0f : 0.0f), scale);
  }
  // One loss per row: log(s) + m - x[target].
  if (q_item() == 0u) {
    losses[row] = q_sub(q_add(canonical_log(s), m), at_target);
  }
}

// correct[r] = 1 if the first of the greatest of row r is at its target.
// The host counts the ones.
Q_KERNEL(find_correct)
(q_word first, Q_INPUT(logits), Q_WORDS(targets), Q_GLOBAL q_word* correct,
 q_size correct_first, q_word cols) {
  Q_AT(logits);
  Q_AT(targets);
  Q_AT(correct);
  Q_SHARED float values[256];
  Q_SHARED q_word indices[256];
  const q_word row = q_group();
  const q_word item = q_item();
  Q_GLOBAL const float* x = logits + (q_size)row * cols;
  float most = x[0];  // if that is NaN, nothing exceeds it
  q_word best = 0u;
  for (q_word j = item; j < cols; j += Q_GROUP_ITEMS) {
    if (x[j] > most) {
      most = x[j];
      best = j;
    }
  }
  // Then a tree over the items; of equal values the lower column wins.
  values[item] = most;
  indices[item] = best;
  for (q_word h = 128u; h > 0u; h >>= 1) {
    q_barrier();
    if (item < h) {
      const float other = values[item + h];
      const q_word at = indices[item + h];
      if (other > values[item] ||
          (other == values[item] && at < indices[item])) {
        values[item] = other;
        indices[item] = at;
      }
    }
  }
  if (item == 0u) correct[row] = indices[0] == targets[row] ? 1u : 0u;
}

// Of each head and position: the scores of the positions up to it become their
// softmax, the rest +0. Rows (batch, heads, length) of length.
Q_KERNEL(causal_softmax)
(q_word first, Q_OUTPUT(scores), q_word length, float scale) {
  Q_AT(scores);
  Q_SHARED float lanes[256];
  Q_SHARED float result[1];
  // Row r of a head is position r: it sees itself and those before.
  Q_GLOBAL float* row = scores + (q_size)q_group() * length;
  const q_word count = q_group() % length + 1u;
  for (q_word j = q_item(); j < count; j += Q_GROUP_ITEMS) {
    row[j] = q_mul(row[j], scale);
  }
  q_barrier();
  const float m = q_row_max(row, count, lanes);
  for (q_word j = q_item(); j < length; j += Q_GROUP_ITEMS) {
    row[j] = j < count ? canonical_exp(q_sub(row[j], m)) : 0.0f;
  }
  q_barrier();
  const float s = q_row_sum(0, row, row, count, lanes, result);
  const float r = q_div(1.0f, s);
  for (q_word j = q_item(); j < count; j += Q_GROUP_ITEMS) {
    row[j] = q_mul(row[j], r);
  }
}

// The slopes by the weights become those by the scores. Row `offset` + group.
// In place: on entry a row of slopes holds dy v, of which only the first
// `count` are meant; on return those by the scores, and +0 above the diagonal.
// Rows as for causal_softmax.
Q_KERNEL(causal_softmax_gradient)
(q_word first, Q_INPUT(weights), Q_OUTPUT(slopes), q_word length, float scale) {
  Q_AT(weights);
  Q_AT(slopes);
  Q_SHARED float lanes[256];
  Q_SHARED float result[1];
  Q_GLOBAL const float* p = weights + (q_size)q_group() * length;
  Q_GLOBAL float* row = slopes + (q_size)q_group() * length;
  const q_word count = q_group() % length + 1u;
  // a of section 7: the slopes' mean under the weights.
  const float mean = q_row_sum(1, row, p, count, lanes, result);
  for (q_word j = q_item(); j < length; j += Q_GROUP_ITEMS) {
    row[j] = j < count ? q_mul(q_mul(p[j], q_sub(row[j], mean)), scale) : 0.0f;
  }
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_SOFTMAX_H_
