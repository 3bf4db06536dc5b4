// Convolution and pooling as plain loops (docs/numerics.md, sections 4 and 7),
// on host pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

void conv2d(const ConvolutionSizes& n, const float* x, const float* w,
            float* y);
void conv2d_input_gradient(const ConvolutionSizes& n, const float* dy,
                           const float* w, float* dx);
void conv2d_weight_gradient(const ConvolutionSizes& n, const float* x,
                            const float* dy, float* dw);

void max_pool2d(const PoolingSizes& n, const Pooling& how, const float* x,
                float* y);
void max_pool2d_gradient(const PoolingSizes& n, const Pooling& how,
                         const float* x, const float* dy, float* dx);

}  // namespace quorate::reference
