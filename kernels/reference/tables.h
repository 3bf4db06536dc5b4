// Tables and their rows, and random numbers, as plain loops (docs/numerics.md,
// sections 7 and 8), on host pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

void embedding(const EmbeddingSizes& n, Indices ids, const float* table,
               float* y);
void embedding_gradient(const EmbeddingSizes& n, Indices ids, const float* dy,
                        Accumulate accumulate, float* dtable);
// y may be x.
void dropout(std::size_t count, const Dropout& how, const float* x, float* y);

}  // namespace quorate::reference
