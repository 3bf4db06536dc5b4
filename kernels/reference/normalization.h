// Normalization as plain loops (docs/numerics.md, section 7), on host pointers.
//
// Arrays are (N,P,C); see Backend::normalize for the shapes and PixelSizes for
// their names. Sizes were checked before.
#pragma once

#include "kernels/shapes.h"

namespace quorate::reference {

// Writes mean and variance (images, groups). The variance takes a second pass
// over x with the finished mean: the short form, E[x^2] - E[x]^2, cancels.
void find_statistics(const PixelSizes& n, std::size_t groups, const float* x,
                     float* mean, float* variance);
// Writes y with the statistics that are given, be they of this batch or running
// ones.
void normalize(const PixelSizes& n, const Normalization& how, const float* x,
               const float* mean, const float* variance, const float* gamma,
               const float* beta, float* y);

// What the backward pass reads and writes; all borrowed, none null.
// x, dy, dx (N,P,C); mean, variance (N,groups); the others (C).
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
// Writes dx, dgamma and dbeta.
void normalize_gradient(const PixelSizes& n, const Normalization& how,
                        const NormalizationGradient& of);

}  // namespace quorate::reference
