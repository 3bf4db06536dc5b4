// Tables and their rows, and random numbers, as plain loops (docs/numerics.md,
// sections 7 and 8), on host pointers.
//
// Ids were checked to be below the size of the table (embedding_sizes).
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// y (rows,C) = the rows `ids` of table (V,C).
void embedding(const EmbeddingSizes& n, Indices ids, const float* table,
               float* y);
// dtable (V,C): rows of dy with one id are added in order, in chains of 64.
void embedding_gradient(const EmbeddingSizes& n, Indices ids, const float* dy,
                        Accumulate accumulate, float* dtable);
// y may be x.
void dropout(std::size_t count, const Dropout& how, const float* x, float* y);

}  // namespace quorate::reference
