// The functions of docs/numerics.md, sections 6 and 7, of one number: written
// once, in the primitives that were included before (kernels/primitives.h, or
// kernels/cpu/vector/elementary-inl.h for a vector), and compiled as
// C++, CUDA and OpenCL C. Branch-free: whatever is not wanted is selected away.
// No guard: the vector form is included once per instruction set.
//
// Coefficients stand by bit pattern, highest power first.

Q_FUNCTION Q_FLOAT canonical_abs(Q_FLOAT x) {
  return q_from_bits(q_int_and(q_bits(x), q_integer(0x7fffffff)));
}

// `magnitude` is not negative.
Q_FUNCTION Q_FLOAT canonical_copysign(Q_FLOAT magnitude, Q_FLOAT sign) {
  return q_from_bits(
      q_int_or(q_int_and(q_bits(magnitude), q_integer(0x7fffffff)),
               q_int_and(q_bits(sign), q_integer(0x80000000))));
}

// 2^k for k in [-126, 127].
Q_FUNCTION Q_FLOAT canonical_power_of_two(Q_INT k) {
  return q_from_bits(q_shift_left(q_int_add(k, q_integer(127)), 23));
}

// Within 0.91 units in the last place, subnormal results included.
Q_FUNCTION Q_FLOAT canonical_exp(Q_FLOAT x) {
  const Q_FLOAT least = q_constant(0xc2d00000);  // -104
  const Q_FLOAT most = q_constant(0x42b20000);   // 89
  // 1.5 * 2^23: added to a small number, it leaves the nearest integer in the
  // low bits.
  const Q_FLOAT magic = q_constant(0x4b400000);
  Q_FLOAT c = q_select(q_less(x, least), least, x);
  c = q_select(q_less(most, c), most, c);
  const Q_FLOAT t = q_fma(c, q_constant(0x3fb8aa3b), magic);  // log2(e)
  const Q_FLOAT n = q_sub(t, magic);
  // ln 2 in two parts, the first short enough to multiply exactly.
  Q_FLOAT r = q_fma(n, q_constant(0xbf317200), c);
  r = q_fma(n, q_constant(0xb5bfbe8e), r);
  Q_FLOAT q = q_constant(0x3ab5112b);
  q = q_fma(q, r, q_constant(0x3c091d81));
  q = q_fma(q, r, q_constant(0x3d2aac7c));
  q = q_fma(q, r, q_constant(0x3e2aaa48));
  q = q_fma(q, r, q_constant(0x3efffffe));
  q = q_fma(q, r, q_constant(0x3f800000));
  q = q_fma(q, r, q_constant(0x3f800000));
  // 2^k in two factors, so that neither overflows or vanishes alone.
  const Q_INT k = q_int_sub(q_bits(t), q_integer(0x4b400000));
  const Q_INT k1 = q_shift_right(k, 1);
  return q_mul(q_mul(q, canonical_power_of_two(k1)),
               canonical_power_of_two(q_int_sub(k, k1)));
}

// Within 1.21 units in the last place.
Q_FUNCTION Q_FLOAT canonical_log(Q_FLOAT x) {
  const Q_FLOAT zero = q_constant(0x00000000);
  const Q_FLOAT infinity = q_constant(0x7f800000);
  const Q_FLOAT ln2_high = q_constant(0x3f317200);
  // sqrt(1/2): mantissas are taken from [sqrt(1/2), sqrt(2)).
  const Q_INT sqrt_half = q_integer(0x3f3504f3);
  // Negative numbers are taken for subnormal too; they end as NaN.
  const Q_FLOAT scaled = q_select(q_less(x, q_constant(0x00800000)),
                                  q_mul(x, q_constant(0x4b000000)), x);
  const Q_FLOAT shift =
      q_select(q_less(x, q_constant(0x00800000)), q_constant(0x41b80000), zero);
  const Q_INT d = q_int_sub(q_bits(scaled), sqrt_half);
  const Q_INT mantissa =
      q_int_add(q_int_and(d, q_integer(0x007fffff)), sqrt_half);
  const Q_FLOAT f = q_sub(q_from_bits(mantissa), q_constant(0x3f800000));
  const Q_FLOAT ef = q_sub(q_to_float(q_shift_right(d, 23)), shift);
  Q_FLOAT p = q_constant(0x3db2e3b4);
  p = q_fma(p, f, q_constant(0xbe12824b));
  p = q_fma(p, f, q_constant(0x3e18c292));
  p = q_fma(p, f, q_constant(0xbe29ae98));
  p = q_fma(p, f, q_constant(0x3e4c6960));
  p = q_fma(p, f, q_constant(0xbe80024d));
  p = q_fma(p, f, q_constant(0x3eaaab7a));
  p = q_fma(p, f, q_constant(0xbefffffd));
  const Q_FLOAT lo = q_fma(ef, q_constant(0x35bfbe8e), q_mul(q_mul(f, f), p));
  const Q_FLOAT hi = q_fma(ef, ln2_high, f);
  const Q_FLOAT er = q_sub(f, q_sub(hi, q_mul(ef, ln2_high)));
  Q_FLOAT y = q_add(hi, q_add(lo, er));
  y = q_select(q_equal(x, infinity), infinity, y);
  y = q_select(q_less_equal(zero, x), y, q_constant(0x7fc00000));
  return q_select(q_equal(x, zero), q_negate(infinity), y);
}

// Within 1.32 units in the last place.
Q_FUNCTION Q_FLOAT canonical_tanh(Q_FLOAT x) {
  const Q_FLOAT one = q_constant(0x3f800000);
  const Q_FLOAT a = canonical_abs(x);
  const Q_FLOAT s = q_mul(x, x);
  Q_FLOAT p = q_constant(0xbbb734db);
  p = q_fma(p, s, q_constant(0x3ca84108));
  p = q_fma(p, s, q_constant(0xbd5bfea9));
  p = q_fma(p, s, q_constant(0x3e0882a9));
  p = q_fma(p, s, q_constant(0xbeaaaa95));
  const Q_FLOAT small = q_fma(q_mul(p, s), x, x);
  const Q_FLOAT quotient =
      q_div(q_constant(0x40000000), q_add(canonical_exp(q_add(a, a)), one));
  const Q_FLOAT big = canonical_copysign(q_sub(one, quotient), x);
  return q_select(q_less(q_constant(0x3f200000), a), big, small);
}

// Within 2.1 units in the last place.
Q_FUNCTION Q_FLOAT canonical_sigmoid(Q_FLOAT x) {
  const Q_FLOAT one = q_constant(0x3f800000);
  const Q_FLOAT e = canonical_exp(q_negate(canonical_abs(x)));
  return q_div(q_select(q_less(x, q_constant(0x00000000)), e, one),
               q_add(one, e));
}

// Within 1.21 units in the last place.
Q_FUNCTION Q_FLOAT canonical_erf(Q_FLOAT x) {
  const Q_FLOAT four = q_constant(0x40800000);
  const Q_FLOAT a = canonical_abs(x);
  const Q_FLOAT s = q_mul(x, x);
  Q_FLOAT p = q_constant(0x38a4b516);
  p = q_fma(p, s, q_constant(0xba51fb7f));
  p = q_fma(p, s, q_constant(0x3baa02d9));
  p = q_fma(p, s, q_constant(0xbcdbfc86));
  p = q_fma(p, s, q_constant(0x3de7167c));
  p = q_fma(p, s, q_constant(0xbec0939f));
  p = q_fma(p, s, q_constant(0x3e0375d4));
  const Q_FLOAT small = q_fma(p, x, x);
  const Q_FLOAT b = q_select(q_less(four, a), four, a);
  Q_FLOAT q = q_constant(0x37b60348);
  q = q_fma(q, b, q_constant(0xb9e77577));
  q = q_fma(q, b, q_constant(0x3b89cc7d));
  q = q_fma(q, b, q_constant(0xbcce85eb));
  q = q_fma(q, b, q_constant(0x3dde0c68));
  q = q_fma(q, b, q_constant(0x3f221a78));
  q = q_fma(q, b, q_constant(0x3f909616));
  q = q_fma(q, b, q_constant(0xb9459f92));
  const Q_FLOAT big = canonical_copysign(
      q_sub(q_constant(0x3f800000), canonical_exp(q_negate(q))), x);
  return q_select(q_less(q_constant(0x3f800000), a), big, small);
}

// Within 1.5 units in the last place.
Q_FUNCTION Q_FLOAT canonical_rsqrt(Q_FLOAT x) {
  return q_div(q_constant(0x3f800000), q_sqrt(x));
}

// NaN passes, -0 becomes +0.
Q_FUNCTION Q_FLOAT canonical_relu(Q_FLOAT x) {
  const Q_FLOAT zero = q_constant(0x00000000);
  return q_select(q_less_equal(x, zero), zero, x);
}

Q_FUNCTION Q_FLOAT canonical_relu_gradient(Q_FLOAT x, Q_FLOAT dy) {
  const Q_FLOAT zero = q_constant(0x00000000);
  return q_select(q_less(zero, x), dy, zero);
}

Q_FUNCTION Q_FLOAT canonical_gelu(Q_FLOAT x) {
  const Q_FLOAT h = q_mul(q_constant(0x3f000000), x);
  return q_fma(h, canonical_erf(q_mul(x, q_constant(0x3f3504f3))), h);
}

Q_FUNCTION Q_FLOAT canonical_gelu_gradient(Q_FLOAT x, Q_FLOAT dy) {
  const Q_FLOAT one_half = q_constant(0x3f000000);
  const Q_FLOAT cdf = q_fma(
      one_half, canonical_erf(q_mul(x, q_constant(0x3f3504f3))), one_half);
  // 1 / sqrt(2 pi)
  const Q_FLOAT pdf =
      q_mul(q_constant(0x3ecc422a),
            canonical_exp(q_mul(q_constant(0xbf000000), q_mul(x, x))));
  return q_mul(dy, q_fma(x, pdf, cdf));
}

Q_FUNCTION Q_FLOAT canonical_silu(Q_FLOAT x) {
  return q_mul(x, canonical_sigmoid(x));
}

Q_FUNCTION Q_FLOAT canonical_silu_gradient(Q_FLOAT x, Q_FLOAT dy) {
  const Q_FLOAT one = q_constant(0x3f800000);
  const Q_FLOAT s = canonical_sigmoid(x);
  return q_mul(dy, q_mul(s, q_fma(x, q_sub(one, s), one)));
}

Q_FUNCTION Q_FLOAT canonical_tanh_gradient(Q_FLOAT x, Q_FLOAT dy) {
  const Q_FLOAT y = canonical_tanh(x);
  return q_mul(dy, q_fma(q_negate(y), y, q_constant(0x3f800000)));
}

Q_FUNCTION Q_FLOAT canonical_sigmoid_gradient(Q_FLOAT x, Q_FLOAT dy) {
  const Q_FLOAT y = canonical_sigmoid(x);
  return q_mul(dy, q_mul(y, q_sub(q_constant(0x3f800000), y)));
}
