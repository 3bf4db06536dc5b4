// The words in which OpenCL C and CUDA differ, so that one text of the kernels
// serves both. All kernels run in groups of 256 items and one dimension.
//
// Vocabulary: an item is a thread (CUDA) or work-item (OpenCL); a group is a
// block or work-group; a group's memory is shared or local memory. A kernel's
// first parameter is always `first`, the first group of this slice. Names in
// capitals are of this file or of arguments.h, names with q_ are functions.
#ifndef QUORATE_KERNELS_GPU_DEVICE_LANGUAGE_H_
#define QUORATE_KERNELS_GPU_DEVICE_LANGUAGE_H_

#include "kernels/primitives.h"

#if defined(__OPENCL_VERSION__)

// OpenCL C 1.2. The size of a group is part of the kernel's declaration, so
// that the compiler can allot registers.
#define Q_KERNEL_NAMED(name, resident) \
  __kernel __attribute__((reqd_work_group_size(256, 1, 1))) void quorate_##name
#define Q_GLOBAL __global
#define Q_SHARED __local __attribute__((aligned(16)))  // an array of the group
#define Q_SHARED_POINTER __local                       // what points into one
#define q_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define q_item() ((q_word)get_local_id(0))
#define q_launched_group() ((q_word)get_group_id(0))
#define q_high_product(a, b) mul_hi((q_word)(a), (q_word)(b))
// q_high_product is the upper word of a product of two 32-bit words.
typedef uchar q_byte;

#else

#define Q_KERNEL_NAMED(name, resident) \
  extern "C" __global__ void __launch_bounds__(256, resident) quorate_##name
#define Q_GLOBAL
#define Q_SHARED __shared__ __align__(16)
#define Q_SHARED_POINTER
#define q_barrier() __syncthreads()
#define q_item() threadIdx.x
#define q_launched_group() blockIdx.x
#define q_high_product(a, b) __umulhi((a), (b))
// The same words for nvcc, of which only the device's pass compiles them.
typedef unsigned char q_byte;

#endif

// The same for every kernel, so that the host never has to choose.
#define Q_GROUP_ITEMS 256u

// Before a loop over arrays of an item, which are then registers. On a CPU they
// are memory anyway, and its compiler takes ten times as long.
#if defined(Q_CPU)
#define Q_UNROLL
#define Q_ROLLED
#else
#define Q_UNROLL _Pragma("unroll")
#define Q_ROLLED _Pragma("unroll 1")  // unrolled, it would take registers
#endif

// resident: how many groups a compute unit shall hold, for which CUDA bounds
// the registers of an item.
#define Q_KERNEL_OF(name, resident) Q_KERNEL_NAMED(name, resident)
#define Q_KERNEL(name) Q_KERNEL_OF(name, 4)

// Counts and offsets of elements.
// Indices of arrays have 64 bits, as an array may have 2^31 rows.
typedef q_long q_size;

// An array among a kernel's parameters, which begins `x##_first` elements into
// its memory. A kernel says Q_AT(x) before it uses it.
#define Q_INPUT(x) Q_GLOBAL const float *x, q_size x##_first
#define Q_OUTPUT(x) Q_GLOBAL float *x, q_size x##_first
#define Q_WORDS(x) Q_GLOBAL const q_word *x, q_size x##_first
#define Q_AT(x) x += x##_first

// Long work is launched in slices: `first` is the first group of this one.
#define q_group() (first + q_launched_group())

// For each element i that belongs to this item: a group covers 1024.
// `i##_end` is computed once, before the loop.
#define Q_FOR_ELEMENTS(i, count)                                              \
  for (q_size i = (q_size)q_group() * 1024u + q_item(),                       \
              i##_end =                                                       \
                  q_least((q_size)(count), ((q_size)q_group() + 1u) * 1024u); \
       i < i##_end; i += Q_GROUP_ITEMS)
#define q_least(a, b) ((a) < (b) ? (a) : (b))

#if defined(Q_INTEGER_DIVISION)
#include "kernels/division-inl.h"
#endif
#include "kernels/elementary-inl.h"

#endif  // QUORATE_KERNELS_GPU_DEVICE_LANGUAGE_H_
