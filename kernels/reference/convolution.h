// Convolution as plain loops (docs/numerics.md, section 4), on host pointers.
//
// x (N,H,W,C), w (KH,KW,C/groups,O), y (N,OH,OW,O), as in Backend::conv2d, with
// sizes that were checked before. Every product with a +0 outside the image is
// executed, as section 4 demands. No epilogue: the backend adds it.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// Writes y.
void conv2d(const ConvolutionSizes& n, const float* x, const float* w,
            float* y);
// Writes dx, shaped as x. Taps that the stride skips take no place in the sum.
void conv2d_input_gradient(const ConvolutionSizes& n, const float* dy,
                           const float* w, float* dx);
// Writes dw, shaped as w: a sum over all output pixels, in order.
void conv2d_weight_gradient(const ConvolutionSizes& n, const float* x,
                            const float* dy, float* dw);

}  // namespace quorate::reference
