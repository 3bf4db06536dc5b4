// Normalization (docs/numerics.md, section 7) of arrays (N,P,C): images are
// tasks, or pieces of an image where there are few. Rows of a layer norm have a
// path of their own.
//
// With at least two images per thread a task takes a whole image, which stays
// in its cache for the passes over it. With fewer, pieces of whole R2 segments
// are the tasks, and images go one after the other. Both give the same bits.
#pragma once

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/normalization_kernels.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// One per backend; borrows its arguments and keeps its scratch memory.
class Normalizer {
 public:
  Normalizer(Tasks& tasks, const ReductionKernels& reduction,
             const NormalizationKernels& kernels)
      : tasks_(tasks), reduction_(reduction), kernels_(kernels) {}

  // Inputs that all passes share: x (N,P,C), gamma and beta (C).
  struct Arrays {
    const float* x;
    const float* gamma;
    const float* beta;
  };
  // As the operations of Backend: mean and variance are (N,groups), written
  // here and read below. Throw io if there is no memory.
  void normalize(const PixelSizes& n, const Normalization& how,
                 const Arrays& from, float* y, float* mean, float* variance);
  void normalize_with(const PixelSizes& n, const Normalization& how,
                      const Arrays& from, const float* mean,
                      const float* variance, float* y);

  // dx (N,P,C), may be dy; dgamma and dbeta (C) are overwritten.
  struct Gradients {
    const float* dy;
    float* dx;
    float* dgamma;
    float* dbeta;
  };
  void gradient(const PixelSizes& n, const Normalization& how,
                const Arrays& from, const float* mean, const float* variance,
                const Gradients& to);

 private:
  struct Image;  // one of them on its way

  // mean and variance, of each group of one image. for_pieces calls its
  // argument with (first pixel, pixels) of pieces of whole segments.
  // What passes of one image share: see normalizer.cpp.
  template <class Pieces>
  void find_statistics(const Image& image, const Pieces& for_pieces,
                       const float* x, float* mean, float* variance);
  // dx of `whole`, the image; leaves its dbeta in image.sums and its dgamma in
  // image.products.
  // gamma and beta are the same for all images; `from.x` is not read here.
  template <class Pieces>
  void image_gradient(const Image& image, const Pieces& for_pieces,
                      const Normalization& how, const Arrays& from,
                      const GradientPiece& whole);
  // The same of a layer norm (one pixel, one group): a row is an image, fits a
  // cache, and takes one call for its statistics and one for its values.
  void normalize_rows(const PixelSizes& n, const Normalization& how,
                      const Arrays& from, float* y, float* mean,
                      float* variance);
  void row_gradients(const PixelSizes& n, const Normalization& how,
                     const Arrays& from, const float* mean,
                     const float* variance, const Gradients& to);

  Tasks& tasks_;
  const ReductionKernels& reduction_;
  const NormalizationKernels& kernels_;
  HostBuffer scratch_;
};

}  // namespace quorate
