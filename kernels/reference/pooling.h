// Pooling as plain loops (docs/numerics.md, section 7), on host pointers.
//
// x (N,H,W,C), y (N,OH,OW,C); see Backend for each. Sizes were checked before.
// Taps in the padding are skipped, they are not zeros: a maximum of negative
// values stays negative.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// Writes y. Of equals the first wins, of NaNs the last.
void max_pool2d(const PoolingSizes& n, const Pooling& how, const float* x,
                float* y);
// Writes dx: +0, then each dy in order is added to the element that won.
void max_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                         const float* x, const float* dy, float* dx);
// Writes y = sum times reciprocal.
void average_pool2d(const PoolingSizes& n, const Pooling& how, float reciprocal,
                    const float* x, float* y);
void average_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                             float reciprocal, const float* dy, float* dx);
// Writes y (N,C), the R2 sum over each image's pixels times reciprocal.
void mean_pixels(const PixelSizes& n, float reciprocal, const float* x,
                 float* y);
// Writes dx (N,P,C).
void mean_pixels_gradient(const PixelSizes& n, float reciprocal,
                          const float* dy, float* dx);

}  // namespace quorate::reference
