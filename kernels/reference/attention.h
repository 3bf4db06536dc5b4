// Causal self-attention as plain loops (docs/numerics.md, section 7), on host
// pointers.
//
// As Backend::attention and its gradient; sizes were checked before
// (kernels/shapes.h). All arrays are dense and row-major. The gradient makes a
// matrix of T^2 slopes in memory of its own, for one head at a time.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// Writes weights (B,heads,T,T) and y (B,T,C).
void attention(const AttentionSizes& n, float scale, const float* qkv,
               float* weights, float* y);
// Writes dqkv (B,T,3C). Reads `weights` as attention() wrote it.
void attention_gradient(const AttentionSizes& n, float scale, const float* qkv,
                        const float* weights, const float* dy, float* dqkv);

}  // namespace quorate::reference
