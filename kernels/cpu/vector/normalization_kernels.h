// Single-threaded inner loops of normalization, compiled once per instruction
// set: pieces of one image (pixels,channels), and rows of a layer norm.
// Definitions: docs/numerics.md, section 7.
//
// A "piece" is some whole rows of one image, that is, pixels by channels; rows
// is how many, cols the channels. The caller (Normalizer) cuts images into
// pieces of whole R2 segments, so that the sums of two pieces never share a
// segment. Nothing here allocates or throws.
#pragma once

#include <cstddef>

#include "kernels/cpu/vector/instruction_set.h"
#include "kernels/operations.h"

namespace quorate {

// Of every channel of an image: its group's mean and reciprocal deviation, and
// its own gamma and beta.
// Each pointer has one value per channel. Spreading a group's value over its
// channels beforehand lets the inner loop run over channels without a division.
struct ChannelConstants {
  const float* mean;
  const float* rs;
  const float* gamma;
  const float* beta;
};

// What a piece of a gradient is made of; all of one size, dx may be dy.
struct GradientPiece {
  const float* x;
  const float* dy;
  float* dx;
};

// Of a group: what its gradient takes from the sums over it, per channel.
// The means are over all elements of a group, spread to its channels. Named as
// in section 7: xh is the normalized value.
struct MeanSlopes {
  const float* c1;  // the mean of dy gamma
  const float* c2;  // the mean of dy xh gamma
};

// One row of a layer norm, all of it one group. The variance is not yet
// increased by epsilon.
struct RowStatistics {
  float mean;
  float variance;
};

struct NormalizationKernels {
  // R2 of (x - mean)^2: each segment of rows becomes a row of `to`.
  // mean: one per column, as spread over the channels.
  void (*square_sums)(const float* x, const float* mean, std::size_t rows,
                      std::size_t cols, float* to);
  // y = (x - mean) rs gamma + beta, then the relu if there is one.
  void (*normalize)(const float* x, const ChannelConstants& of, bool relu,
                    std::size_t rows, std::size_t cols, float* y);
  // R2 of dy and of dy xh, after the relu: a row for each segment.
  void (*gradient_sums)(const GradientPiece& piece, const ChannelConstants& of,
                        bool relu, std::size_t rows, std::size_t cols,
                        float* slopes, float* products);
  // dx from the means that gradient_sums led to. dx may be dy: an element is
  // read before it is written.
  void (*gradient)(const GradientPiece& piece, const ChannelConstants& of,
                   const MeanSlopes& means, bool relu, std::size_t rows,
                   std::size_t cols);

  // In two passes over the row, mean first.
  RowStatistics (*row_statistics)(const float* x, std::size_t cols);
  void (*normalize_row)(const float* x, const RowStatistics& row,
                        const float* gamma, const float* beta,
                        const Normalization& how, std::size_t cols, float* y);
  // Adds the row's part of dbeta and dgamma to the sums `slopes`, `products`.
  void (*row_gradient)(const GradientPiece& piece, const RowStatistics& row,
                       const float* gamma, const float* beta,
                       const Normalization& how, std::size_t cols,
                       float* slopes, float* products);
};
const NormalizationKernels& normalization_kernels(InstructionSet set);

}  // namespace quorate
