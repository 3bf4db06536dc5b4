// Pooling (docs/numerics.md, section 7): one item for each result.
//
// An item finds the window or the windows of its element by arithmetic; none is
// stored. The gradient of a maximum looks for the winner again, for each window
// over an element: more reads, but no array of indices and no atomics.
#ifndef QUORATE_KERNELS_GPU_DEVICE_WINDOWS_H_
#define QUORATE_KERNELS_GPU_DEVICE_WINDOWS_H_

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/device/language.h"

// An element of an array (images, height, width, channels).
typedef struct {
  q_size image;
  q_word row, col, channel;
} QElement;

// The element with index i of an array with these sizes.
Q_FUNCTION QElement q_element(q_size i, q_word height, q_word width,
                              q_word channels) {
  QElement at;
  at.channel = (q_word)(i % channels);
  i /= channels;
  at.col = (q_word)(i % width);
  i /= width;
  at.row = (q_word)(i % height);
  at.image = i / height;
  return at;
}

// The part of a window inside the image along one axis: [begin, end).
typedef struct {
  q_word begin, end;
} QRange;

Q_FUNCTION QRange q_window(const QPooling n, q_word out, q_word in_size) {
  QRange range;
  const q_word start = out * n.stride;
  // The padding is at most half of the size: end does not wrap.
  range.begin = start < n.padding ? 0u : start - n.padding;
  range.end = q_least(start + n.size - n.padding, in_size);
  return range;
}

// The windows along one axis that hold the input position `in`.
Q_FUNCTION QRange q_windows_of(const QPooling n, q_word in, q_word out_size) {
  QRange range;
  const q_word at = in + n.padding;
  // The first window that reaches so far, and the last that begins there.
  range.begin = at < n.size ? 0u : (at - n.size) / n.stride + 1u;
  range.end = q_least(at / n.stride + 1u, out_size);
  return range;
}

// Where the greatest element of a window lies in x: the first of equals, the
// last NaN if there is one.
Q_FUNCTION q_size q_greatest(const QPooling n, Q_GLOBAL const float* x,
                             const QElement out) {
  const QRange rows = q_window(n, out.row, n.in_height);
  const QRange cols = q_window(n, out.col, n.in_width);
  int is_found = 0;
  q_size best = 0u;
  float most = 0.0f;
  for (q_word row = rows.begin; row < rows.end; ++row) {
    for (q_word col = cols.begin; col < cols.end; ++col) {
      const q_size at =
          ((out.image * n.in_height + row) * n.in_width + col) * n.channels +
          out.channel;
      const float value = x[at];
      // value != value: a NaN replaces what was found, also another NaN.
      if (!is_found || value > most || value != value) {
        best = at;
        most = value;
      }
      is_found = 1;
    }
  }
  return best;
}

// Elements of y, of x, and the index of a result in y.
Q_FUNCTION q_size q_pooling_results(const QPooling n) {
  return (q_size)n.images * n.out_height * n.out_width * n.channels;
}
Q_FUNCTION q_size q_pooling_inputs(const QPooling n) {
  return (q_size)n.images * n.in_height * n.in_width * n.channels;
}
Q_FUNCTION q_size q_result_at(const QPooling n, const QElement out) {
  return ((out.image * n.out_height + out.row) * n.out_width + out.col) *
             n.channels +
         out.channel;
}

// y = the greatest element of each window.
Q_KERNEL(max_pool)(q_word first, Q_INPUT(x), Q_OUTPUT(y), const QPooling n) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, q_pooling_results(n)) {
    y[i] = x[q_greatest(n, x,
                        q_element(i, n.out_height, n.out_width, n.channels))];
  }
}

// Gathers: each input asks the windows that hold it, in increasing order.
Q_KERNEL(max_pool_gradient)
(q_word first, Q_INPUT(x), Q_INPUT(dy), Q_OUTPUT(dx), const QPooling n) {
  Q_AT(x);
  Q_AT(dy);
  Q_AT(dx);
  Q_FOR_ELEMENTS(i, q_pooling_inputs(n)) {
    // It is the input's place at first, then runs over the windows over it.
    QElement out = q_element(i, n.in_height, n.in_width, n.channels);
    const QRange rows = q_windows_of(n, out.row, n.out_height);
    const QRange cols = q_windows_of(n, out.col, n.out_width);
    float sum = 0.0f;
    for (out.row = rows.begin; out.row < rows.end; ++out.row) {
      for (out.col = cols.begin; out.col < cols.end; ++out.col) {
        if (q_greatest(n, x, out) == i) {
          sum = q_add(sum, dy[q_result_at(n, out)]);
        }
      }
    }
    dx[i] = sum;
  }
}

// y = the sum of a window's taps inside the image, in order of row and column,
// times `reciprocal` (1 / size^2).
Q_KERNEL(average_pool)
(q_word first, Q_INPUT(x), Q_OUTPUT(y), const QPooling n, float reciprocal) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, q_pooling_results(n)) {
    // An item is one result; its taps lie apart by a row of the image.
    const QElement out = q_element(i, n.out_height, n.out_width, n.channels);
    const QRange rows = q_window(n, out.row, n.in_height);
    const QRange cols = q_window(n, out.col, n.in_width);
    float sum = 0.0f;
    for (q_word row = rows.begin; row < rows.end; ++row) {
      for (q_word col = cols.begin; col < cols.end; ++col) {
        sum =
            q_add(sum, x[((out.image * n.in_height + row) * n.in_width + col) *
                             n.channels +
                         out.channel]);
      }
    }
    y[i] = q_mul(sum, reciprocal);
  }
}

// Gathers: each input adds dy times `reciprocal` of the windows that hold it.
Q_KERNEL(average_pool_gradient)
(q_word first, Q_INPUT(dy), Q_OUTPUT(dx), const QPooling n, float reciprocal) {
  Q_AT(dy);
  Q_AT(dx);
  Q_FOR_ELEMENTS(i, q_pooling_inputs(n)) {
    QElement out = q_element(i, n.in_height, n.in_width, n.channels);
    const QRange rows = q_windows_of(n, out.row, n.out_height);
    const QRange cols = q_windows_of(n, out.col, n.out_width);
    float sum = 0.0f;
    for (out.row = rows.begin; out.row < rows.end; ++out.row) {
      for (out.col = cols.begin; out.col < cols.end; ++out.col) {
        sum = q_add(sum, q_mul(dy[q_result_at(n, out)], reciprocal));
      }
    }
    dx[i] = sum;
  }
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_WINDOWS_H_
