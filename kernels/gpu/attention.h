// Causal self-attention on a GPU (docs/numerics.md, section 7).
#pragma once

#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

void gpu_attention(GpuQueue& queue, const AttentionSizes& n, float scale,
                   const GpuPlace& qkv, const GpuPlace& weights,
                   const GpuPlace& y);
void gpu_attention_gradient(GpuQueue& queue, const AttentionSizes& n,
                            float scale, const GpuPlace& qkv,
                            const GpuPlace& weights, const GpuPlace& dy,
                            const GpuPlace& dqkv);

}  // namespace quorate
