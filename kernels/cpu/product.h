// How a matrix product is laid out for `multiply` and cut into tasks. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/shapes.h"

namespace quorate {

// The product c = op(a) op(b) with either operand on the vector side,
// whichever costs less.
Product arrange_product(const MatmulSizes& sizes, const float* a,
                        Transpose transpose_a, const float* b,
                        Transpose transpose_b, float* c, std::size_t lanes);

// The product in up to `most` pieces of similar cost that share nothing of C;
// fewer when it is small.
std::vector<Product> split_product(const Product& product, std::size_t most,
                                   std::size_t lanes);

}  // namespace quorate
