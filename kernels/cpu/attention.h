// Causal self-attention (docs/numerics.md, section 7): the heads of all
// sequences are tasks; what one of them needs stays in a processor's cache.
//
// One per backend; used by the thread that calls the operation, which spreads
// the heads over the pool. Arrays as in Backend::attention. Every product goes
// through the CPU's matrix kernel in blocks of 64 positions.
#pragma once

#include <vector>

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/product.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// Borrows all four; they outlive it.
class Attention {
 public:
  // scratch: of each thread, for `multiply`.
  Attention(Tasks& tasks, const MatmulKernels& matmul,
            const ReductionKernels& reduction,
            const std::vector<AlignedFloats>& scratch);

  // As the operations of Backend. forward() needs no memory beyond the scratch.
  // gradient() keeps T^2 floats per thread and throws io if there is no memory.
  void forward(const AttentionSizes& n, float scale, const float* qkv,
               float* weights, float* y);
  void gradient(const AttentionSizes& n, float scale, const float* qkv,
                const float* weights, const float* dy, float* dqkv);

 private:
  // Calls f(sequence, head, thread) for all of them.
  // A task is one head; `thread` picks its scratch memory.
  template <class F>
  void for_heads(const AttentionSizes& n, const F& f);

  Tasks& tasks_;
  const MatmulKernels& matmul_;
  const ReductionKernels& reduction_;
  const std::vector<AlignedFloats>& scratch_;
  ThreadBuffers slopes_;  // (length,length), of the scores of a head
};

}  // namespace quorate
