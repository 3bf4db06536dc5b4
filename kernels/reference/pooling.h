// Pooling as plain loops (docs/numerics.md, section 7), on host pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

void max_pool2d(const PoolingSizes& n, const Pooling& how, const float* x,
                float* y);
void max_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                         const float* x, const float* dy, float* dx);
void average_pool2d(const PoolingSizes& n, const Pooling& how, float reciprocal,
                    const float* x, float* y);
void average_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                             float reciprocal, const float* dy, float* dx);
void mean_pixels(const PixelSizes& n, float reciprocal, const float* x,
                 float* y);
void mean_pixels_gradient(const PixelSizes& n, float reciprocal,
                          const float* dy, float* dx);

}  // namespace quorate::reference
