// Causal self-attention as plain loops (docs/numerics.md, section 7), on host
// pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

void attention(const AttentionSizes& n, float scale, const float* qkv,
               float* weights, float* y);
void attention_gradient(const AttentionSizes& n, float scale, const float* qkv,
                        const float* weights, const float* dy, float* dqkv);

}  // namespace quorate::reference
