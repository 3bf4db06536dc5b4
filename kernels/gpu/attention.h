// Causal self-attention on a GPU (docs/numerics.md, section 7).
//
// As Backend::attention and its gradient; sizes were checked. Products of all
// heads run as one launch of matrices (QProduct::matrices), and sums over
// positions stop at the end of a tile of 64 rows, as section 7 demands.
#pragma once

#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

// Writes weights (B,heads,T,T) and y (B,T,C). No scratch memory.
void gpu_attention(GpuQueue& queue, const AttentionSizes& n, float scale,
                   const GpuPlace& qkv, const GpuPlace& weights,
                   const GpuPlace& y);
// Writes dqkv. The slopes by the weights take at most 256 MiB of scratch,
// unless one sequence needs more: sequences are done some at a time. Throws io
// if the device has no room for them.
void gpu_attention_gradient(GpuQueue& queue, const AttentionSizes& n,
                            float scale, const GpuPlace& qkv,
                            const GpuPlace& weights, const GpuPlace& dy,
                            const GpuPlace& dqkv);

}  // namespace quorate
