// Sums in R1 and R2 order, and normalization, on a GPU (docs/numerics.md,
// sections 5 and 7).
//
// Called by the GPU backend only. One item makes one R2 segment or one value of
// the pairs, so a sum of n values takes a few launches, and never an atomic
// addition, whose order would be the device's.
#pragma once

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

// result[0] = the R1 sum of `count` elements, or of their squares; +0 for none.
// Uses Scratch::pairs and other_pairs, as all here do.
void gpu_sum(GpuQueue& queue, const GpuPlace& x, std::uint64_t count,
             bool of_squares, const GpuPlace& result);

// sums (images, channels) of x (images, pixels, channels), in R2 order over the
// pixels; +0 if there are none.
void gpu_sum_pixels(GpuQueue& queue, const GpuPlace& x, const PixelSizes& n,
                    const GpuPlace& sums);

// Writes mean and variance (images, groups), as in Backend::normalize. Two
// passes over x.
void gpu_find_statistics(GpuQueue& queue, const PixelSizes& n,
                         std::size_t groups, const GpuPlace& x,
                         const GpuPlace& mean, const GpuPlace& variance);

// Inputs of both passes; mean and variance may be of elsewhere.
// All arrays lie densely, as in kernels/reference/normalization.h.
struct NormalizationPlaces {
  GpuPlace x, mean, variance, gamma, beta;
};
// Writes y from given statistics.
void gpu_normalize(GpuQueue& queue, const PixelSizes& n,
                   const Normalization& how, const NormalizationPlaces& of,
                   const GpuPlace& y);
// Writes dx (may be dy), dgamma and dbeta.
void gpu_normalize_gradient(GpuQueue& queue, const PixelSizes& n,
                            const Normalization& how,
                            const NormalizationPlaces& of, const GpuPlace& dy,
                            const GpuPlace& dx, const GpuPlace& dgamma,
                            const GpuPlace& dbeta);

}  // namespace quorate
