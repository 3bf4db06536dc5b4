// Convolution as plain loops (docs/numerics.md, section 4), on host pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

void conv2d(const ConvolutionSizes& n, const float* x, const float* w,
            float* y);
void conv2d_input_gradient(const ConvolutionSizes& n, const float* dy,
                           const float* w, float* dx);
void conv2d_weight_gradient(const ConvolutionSizes& n, const float* x,
                            const float* dy, float* dw);

}  // namespace quorate::reference
