// Operations of one element at a time (docs/numerics.md, sections 6 to 8).
// Longer than other headers: the kernels are short, and many.
//
// An item computes every 256th element of its group's 1024 (Q_FOR_ELEMENTS) and
// touches no other, so outputs may be inputs. These kernels take as long as
// their way through memory does, so each does all that it can in one pass.
// Parameters are those of the operations of kernels/backend.h; `count` is the
// elements in all, `first` the slice's first group.
#ifndef QUORATE_KERNELS_GPU_DEVICE_ELEMENTWISE_H_
#define QUORATE_KERNELS_GPU_DEVICE_ELEMENTWISE_H_

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/device/language.h"

// f(x) by the function's number. f is the same for all items of a launch, so
// the branch costs next to nothing. Any other number is silu: the host sends
// known ones.
Q_FUNCTION float q_apply(q_word f, float x) {
  switch (f) {
    case Q_EXP:
      return canonical_exp(x);
    case Q_LOG:
      return canonical_log(x);
    case Q_TANH:
      return canonical_tanh(x);
    case Q_SIGMOID:
      return canonical_sigmoid(x);
    case Q_ERF:
      return canonical_erf(x);
    case Q_RSQRT:
      return canonical_rsqrt(x);
    case Q_RELU:
      return canonical_relu(x);
    case Q_GELU:
      return canonical_gelu(x);
    default:
      return canonical_silu(x);
  }
}

// dy f'(x); the host refuses functions without a gradient.
Q_FUNCTION float q_apply_gradient(q_word f, float x, float dy) {
  switch (f) {
    case Q_TANH:
      return canonical_tanh_gradient(x, dy);
    case Q_SIGMOID:
      return canonical_sigmoid_gradient(x, dy);
    case Q_RELU:
      return canonical_relu_gradient(x, dy);
    case Q_GELU:
      return canonical_gelu_gradient(x, dy);
    default:
      return canonical_silu_gradient(x, dy);
  }
}

// y = f(x).
Q_KERNEL(map)(q_word first, q_size count, Q_INPUT(x), Q_OUTPUT(y), q_word f) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) y[i] = q_apply(f, x[i]);
}

// dx = dy f'(x).
Q_KERNEL(map_gradient)
(q_word first, q_size count, Q_INPUT(x), Q_INPUT(dy), Q_OUTPUT(dx), q_word f) {
  Q_AT(x);
  Q_AT(dy);
  Q_AT(dx);
  Q_FOR_ELEMENTS(i, count) dx[i] = q_apply_gradient(f, x[i], dy[i]);
}

Q_KERNEL(add_arrays)
(q_word first, q_size count, Q_INPUT(a), Q_INPUT(b), Q_OUTPUT(y)) {
  Q_AT(a);
  Q_AT(b);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) y[i] = q_add(a[i], b[i]);
}

Q_KERNEL(subtract_arrays)
(q_word first, q_size count, Q_INPUT(a), Q_INPUT(b), Q_OUTPUT(y)) {
  Q_AT(a);
  Q_AT(b);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) y[i] = q_sub(a[i], b[i]);
}

Q_KERNEL(scale_array)
(q_word first, q_size count, Q_INPUT(x), Q_OUTPUT(y), float factor) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) y[i] = q_mul(x[i], factor);
}

// y = fma(rate, sub(mul(x, factor), y), y): running statistics.
Q_KERNEL(move_towards)
(q_word first, q_size count, Q_INPUT(x), Q_OUTPUT(y), float factor,
 float rate) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) {
    y[i] = q_fma(rate, q_sub(q_mul(x[i], factor), y[i]), y[i]);
  }
}

// x (rows,cols) += bias (cols), in place.
Q_KERNEL(add_bias)
(q_word first, q_size count, Q_OUTPUT(x), Q_INPUT(bias), q_word cols) {
  Q_AT(x);
  Q_AT(bias);
  Q_FOR_ELEMENTS(i, count) x[i] = q_add(x[i], bias[i % cols]);
}

// Bytes to [0, 1].
Q_KERNEL(pixels)
(q_word first, q_size count, Q_GLOBAL const q_byte* x, q_size x_first,
 Q_OUTPUT(y)) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) {
    y[i] = q_mul(q_to_float((int)x[i]), q_constant(0x3b808081));
  }
}

// found becomes 1 if an element is NaN or infinite.
// Items that find one all write the same word: the order does not matter. The
// host sets it to 0 before.
Q_KERNEL(find_not_finite)
(q_word first, q_size count, Q_INPUT(x), Q_GLOBAL q_word* found,
 q_size found_first) {
  Q_AT(x);
  Q_AT(found);
  Q_FOR_ELEMENTS(i, count) {
    if ((q_bits(x[i]) & 0x7f800000) == 0x7f800000) found[0] = 1u;
  }
}

// One step; v is written even without momentum. The zeros of `step` leave their
// terms out instead of multiplying by 0, which would make NaN of infinity.
Q_KERNEL(sgd)
(q_word first, q_size count, Q_OUTPUT(w), Q_INPUT(g), Q_OUTPUT(v),
 const QSgd step) {
  Q_AT(w);
  Q_AT(g);
  Q_AT(v);
  Q_FOR_ELEMENTS(i, count) {
    const float slope =
        step.weight_decay == 0.0f ? g[i] : q_fma(step.weight_decay, w[i], g[i]);
    const float speed =
        step.momentum == 0.0f ? slope : q_fma(step.momentum, v[i], slope);
    v[i] = speed;
    w[i] = q_fma(q_negate(step.learning_rate), speed, w[i]);
  }
}

// One step; the corrections for it come from the host, ready.
Q_KERNEL(adamw)
(q_word first, q_size count, Q_OUTPUT(w), Q_INPUT(g), Q_OUTPUT(m), Q_OUTPUT(v),
 const QAdamW step) {
  Q_AT(w);
  Q_AT(g);
  Q_AT(m);
  Q_AT(v);
  Q_FOR_ELEMENTS(i, count) {
    const float slope = g[i];
    const float m1 =
        q_fma(step.beta1, m[i], q_mul(step.one_minus_beta1, slope));
    const float v1 = q_fma(step.beta2, v[i],
                           q_mul(step.one_minus_beta2, q_mul(slope, slope)));
    m[i] = m1;
    v[i] = v1;
    float u = q_div(q_mul(m1, step.correction1),
                    q_add(q_sqrt(q_mul(v1, step.correction2)), step.epsilon));
    u = q_fma(step.weight_decay, w[i], u);
    w[i] = q_fma(q_negate(step.learning_rate), u, w[i]);
  }
}

// The four words of Philox4x32-10 at (index, stream, step).
Q_FUNCTION void q_philox(const QDropout how, q_size index, q_word* words) {
  q_word k0 = how.key_low;
  q_word k1 = how.key_high;
  words[0] = (q_word)index;
  words[1] = (q_word)(index >> 32);
  words[2] = how.stream;
  words[3] = how.step;
  for (int round = 0; round < 10; ++round) {
    const q_word high0 = q_high_product(0xd2511f53u, words[0]);
    const q_word low0 = 0xd2511f53u * words[0];
    const q_word high1 = q_high_product(0xcd9e8d57u, words[2]);
    const q_word low1 = 0xcd9e8d57u * words[2];
    words[0] = high1 ^ words[1] ^ k0;
    words[1] = low1;
    words[2] = high0 ^ words[3] ^ k1;
    words[3] = low0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}

// Quads of elements share a counter: `quads` of them.
Q_KERNEL(dropout)
(q_word first, q_size quads, q_size count, Q_INPUT(x), Q_OUTPUT(y),
 const QDropout how) {
  Q_AT(x);
  Q_AT(y);
  Q_FOR_ELEMENTS(quad, quads) {
    q_word words[4];
    q_philox(how, quad, words);
    for (int j = 0; j < 4; ++j) {
      const q_size i = quad * 4u + (q_size)j;
      if (i < count) {
        y[i] = words[j] >= how.threshold ? q_mul(x[i], how.scale) : 0.0f;
      }
    }
  }
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_ELEMENTWISE_H_
