// Sums in R1 and R2 order, and normalization, on a GPU (docs/numerics.md,
// sections 5 and 7).
#pragma once

#include "kernels/gpu/device/arguments.h"
#include "kernels/gpu/gpu_queue.h"
#include "kernels/shapes.h"

namespace quorate {

// result[0] = the R1 sum of `count` elements, or of their squares.
void gpu_sum(GpuQueue& queue, const GpuPlace& x, std::uint64_t count,
             bool of_squares, const GpuPlace& result);

// sums (images, channels) of x (images, pixels, channels).
void gpu_sum_pixels(GpuQueue& queue, const GpuPlace& x, const PixelSizes& n,
                    const GpuPlace& sums);

// gamma, beta, mean, ... as in Backend.
void gpu_find_statistics(GpuQueue& queue, const PixelSizes& n,
                         std::size_t groups, const GpuPlace& x,
                         const GpuPlace& mean, const GpuPlace& variance);

struct NormalizationPlaces {
  GpuPlace x, mean, variance, gamma, beta;
};
void gpu_normalize(GpuQueue& queue, const PixelSizes& n,
                   const Normalization& how, const NormalizationPlaces& of,
                   const GpuPlace& y);
void gpu_normalize_gradient(GpuQueue& queue, const PixelSizes& n,
                            const Normalization& how,
                            const NormalizationPlaces& of, const GpuPlace& dy,
                            const GpuPlace& dx, const GpuPlace& dgamma,
                            const GpuPlace& dbeta);

}  // namespace quorate
