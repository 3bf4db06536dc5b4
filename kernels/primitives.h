// The primitives of docs/numerics.md, section 2, under one name in three
// languages: C++, CUDA and OpenCL C. Each is one correctly rounded operation.
// What is written in them (kernels/elementary-inl.h) means the same everywhere;
// kernels/cpu/vector/elementary-inl.h has them for vectors.
#ifndef QUORATE_KERNELS_PRIMITIVES_H_
#define QUORATE_KERNELS_PRIMITIVES_H_

#if defined(__OPENCL_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
typedef uint q_word;
typedef ulong q_long;
#define Q_FUNCTION
#define q_fma(a, b, c) fma((a), (b), (c))
#define q_add(a, b) ((a) + (b))
#define q_sub(a, b) ((a) - (b))
#define q_mul(a, b) ((a) * (b))
#if defined(Q_INTEGER_DIVISION)  // kernels/division-inl.h
#define q_div(a, b) canonical_quotient((a), (b))
#define q_sqrt(a) canonical_root(a)
#else  // built with -cl-fp32-correctly-rounded-divide-sqrt
#define q_div(a, b) ((a) / (b))
#define q_sqrt(a) sqrt(a)
#endif
#define q_bits(x) as_int(x)
#define q_from_bits(i) as_float(i)
#define q_to_float(i) convert_float_rte(i)
#define q_leading_zeros(i) ((int)clz((q_word)(i)))

#elif defined(__CUDACC__)

typedef unsigned int q_word;
typedef unsigned long long q_long;
#define Q_FUNCTION __device__ __forceinline__
#define q_fma(a, b, c) __fmaf_rn((a), (b), (c))
#define q_add(a, b) __fadd_rn((a), (b))
#define q_sub(a, b) __fsub_rn((a), (b))
#define q_mul(a, b) __fmul_rn((a), (b))
#define q_div(a, b) __fdiv_rn((a), (b))
#define q_sqrt(a) __fsqrt_rn(a)
#define q_bits(x) __float_as_int(x)
#define q_from_bits(i) __int_as_float(i)
#define q_to_float(i) __int2float_rn(i)
#define q_leading_zeros(i) __clz((int)(i))

#else

#include <bit>
#include <cmath>
#include <cstdint>

using q_word = std::uint32_t;
using q_long = std::uint64_t;
#define Q_FUNCTION inline
#define q_fma(a, b, c) std::fma((a), (b), (c))
#define q_add(a, b) ((a) + (b))
#define q_sub(a, b) ((a) - (b))
#define q_mul(a, b) ((a) * (b))
#define q_div(a, b) ((a) / (b))
#define q_sqrt(a) std::sqrt(a)
#define q_bits(x) std::bit_cast<std::int32_t>(x)
#define q_from_bits(i) std::bit_cast<float>(i)
#define q_to_float(i) static_cast<float>(i)
#define q_leading_zeros(i) std::countl_zero(static_cast<q_word>(i))

#endif

// Numbers and integers; `p` is a bit pattern.
#define Q_FLOAT float
#define Q_INT int
#define q_constant(p) q_from_bits((int)(p))
#define q_integer(p) ((int)(p))
#define q_negate(a) (-(a))
#define q_select(condition, a, b) ((condition) ? (a) : (b))
#define q_less(a, b) ((a) < (b))
#define q_less_equal(a, b) ((a) <= (b))
#define q_equal(a, b) ((a) == (b))
#define q_int_add(a, b) ((int)((q_word)(a) + (q_word)(b)))
#define q_int_sub(a, b) ((int)((q_word)(a) - (q_word)(b)))
#define q_int_and(a, b) ((a) & (b))
#define q_int_or(a, b) ((a) | (b))
#define q_shift_left(a, n) ((int)((q_word)(a) << (n)))
#define q_shift_right(a, n) ((a) >> (n))  // arithmetic

#endif  // QUORATE_KERNELS_PRIMITIVES_H_
