// Normalization as plain loops (docs/numerics.md, section 7), on host pointers.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// mean, variance (images, groups).
void find_statistics(const PixelSizes& n, std::size_t groups, const float* x,
                     float* mean, float* variance);
// With given statistics.
void normalize(const PixelSizes& n, const Normalization& how, const float* x,
               const float* mean, const float* variance, const float* gamma,
               const float* beta, float* y);

struct NormalizationGradient {
  const float* x;
  const float* dy;
  const float* mean;
  const float* variance;
  const float* gamma;
  const float* beta;
  float* dx;  // may be dy
  float* dgamma;
  float* dbeta;
};
void normalize_gradient(const PixelSizes& n, const Normalization& how,
                        const NormalizationGradient& of);

}  // namespace quorate::reference
