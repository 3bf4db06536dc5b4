// Quotient and root by integer operations alone, for devices whose own are not
// correctly rounded (an OpenCL device may say so, and is then built with
// Q_INTEGER_DIVISION): digit by digit, the remainder as the sticky bit
// (docs/numerics.md, section 9). They give the IEEE result for every input,
// subnormal, infinite and NaN ones included.
//
// Slow, some hundred operations each; no inner loop divides. Written in the
// primitives of kernels/primitives.h; C++ compiles it too, so that the tests
// can compare it with the processor's own division.

// The nearest binary32 to significand * 2^(exponent - 26), ties to even; the
// significand in [2^26, 2^27), its lowest bit set if anything is beyond it.
Q_FUNCTION float canonical_rounded(q_word sign, q_word significand,
                                   int exponent) {
  int biased = exponent + 127;
  if (biased > 254) return q_from_bits((int)(sign | 0x7f800000u));
  // Subnormal results keep fewer bits; beyond 28 only the sticky bit matters.
  const int shift = biased >= 1 ? 3 : (biased < -25 ? 29 : 4 - biased);
  const q_word kept = significand >> shift;
  const q_word rest = significand & (((q_word)1 << shift) - 1u);
  const q_word half_way = (q_word)1 << (shift - 1);
  const q_word up =
      (rest > half_way || (rest == half_way && (kept & 1u) != 0u)) ? 1u : 0u;
  // A carry out of the significand raises the exponent, as it must.
  // "+ up" below may carry into the exponent: 1.11...1 rounds up to 2.0.
  const q_word base = biased >= 1 ? (q_word)(biased - 1) << 23 : 0u;
  return q_from_bits((int)(sign | (base + kept + up)));
}

// The significand of a finite number that is not zero, in [2^23, 2^24), and
// its exponent: |x| = significand * 2^(exponent - 23).
Q_FUNCTION q_word canonical_significand(q_word magnitude) {
  const q_word fraction = magnitude & 0x7fffffu;
  if (magnitude >= 0x800000u) return fraction | 0x800000u;
  return fraction << (q_leading_zeros(fraction) - 8);
}
// The exponent that belongs to that significand, subnormal numbers included.
Q_FUNCTION int canonical_exponent(q_word magnitude) {
  if (magnitude >= 0x800000u) return (int)(magnitude >> 23) - 127;
  return 8 - q_leading_zeros(magnitude) - 126;
}

// a / b, rounded to nearest even. All NaN are 7fc00000.
Q_FUNCTION float canonical_quotient(float a, float b) {
  const q_word infinity = 0x7f800000u;
  const float not_a_number = q_from_bits(0x7fc00000);
  const q_word sign = ((q_word)q_bits(a) ^ (q_word)q_bits(b)) & 0x80000000u;
  const q_word ua = (q_word)q_bits(a) & 0x7fffffffu;
  const q_word ub = (q_word)q_bits(b) & 0x7fffffffu;
  if (ua > infinity || ub > infinity) return not_a_number;
  // 0 / 0 and infinity / infinity.
  if (ua == ub && (ua == 0u || ua == infinity)) return not_a_number;
  if (ua == infinity || ub == 0u) return q_from_bits((int)(sign | infinity));
  if (ua == 0u || ub == infinity) return q_from_bits((int)sign);

  // Long division of the significands: 26 digits, of which 24 are kept and two
  // round. The dividend is at least the divisor, so the first digit is 1.
  q_word rest = canonical_significand(ua);
  const q_word divisor = canonical_significand(ub);
  int exponent = canonical_exponent(ua) - canonical_exponent(ub);
  if (rest < divisor) {
    rest <<= 1;
    exponent -= 1;
  }
  q_word quotient = 0u;
  for (int digit = 0; digit < 26; ++digit) {
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1u;
    }
    rest <<= 1;
  }
  return canonical_rounded(sign, quotient << 1 | (rest != 0u ? 1u : 0u),
                           exponent);
}

// sqrt(x), rounded to nearest even; -0 stays -0. The result is never subnormal.
Q_FUNCTION float canonical_root(float x) {
  const q_word ux = (q_word)q_bits(x);
  if ((ux & 0x7fffffffu) == 0u || ux == 0x7f800000u) return x;
  if (ux > 0x7f800000u) return q_from_bits(0x7fc00000);  // NaN or negative
  // x = significand * 2^(exponent - 23); an odd exponent gives one factor of 2
  // to the significand, so that half of it is whole.
  q_word significand = canonical_significand(ux);
  int exponent = canonical_exponent(ux);
  if ((exponent & 1) != 0) {
    significand <<= 1;
    exponent -= 1;
  }
  // The root of significand * 2^25, in [2^24, 2^25): 25 digits, the last for
  // rounding. A tie cannot be: its square would have too many digits.
  const q_long square = (q_long)significand << 25;
  q_word root = 0u;
  for (int digit = 24; digit >= 0; --digit) {
    const q_word tried = root | (q_word)1 << digit;
    if ((q_long)tried * tried <= square) root = tried;
  }
  const q_word rounded = (root >> 1) + (root & 1u);
  return q_from_bits((int)(((q_word)(exponent / 2 + 126) << 23) + rounded));
}
