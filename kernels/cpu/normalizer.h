// Normalization (docs/numerics.md, section 7) of arrays (N,P,C): images are
// tasks, or pieces of an image where there are few. Rows of a layer norm have a
// path of their own.
#pragma once

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/normalization_kernels.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

class Normalizer {
 public:
  Normalizer(Tasks& tasks, const ReductionKernels& reduction,
             const NormalizationKernels& kernels)
      : tasks_(tasks), reduction_(reduction), kernels_(kernels) {}

  struct Arrays {
    const float* x;
    const float* gamma;
    const float* beta;
  };
  // As the operations of Backend. Throw io if there is no memory.
  void normalize(const PixelSizes& n, const Normalization& how,
                 const Arrays& from, float* y, float* mean, float* variance);
  void normalize_with(const PixelSizes& n, const Normalization& how,
                      const Arrays& from, const float* mean,
                      const float* variance, float* y);

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

  // mean and variance, of each group.
  template <class Pieces>
  void find_statistics(const Image& image, const Pieces& for_pieces,
                       const float* x, float* mean, float* variance);
  // dx of `whole`, the image; leaves its dbeta in image.sums and its dgamma in
  // image.products.
  template <class Pieces>
  void image_gradient(const Image& image, const Pieces& for_pieces,
                      const Normalization& how, const Arrays& from,
                      const GradientPiece& whole);
  // The same of a layer norm.
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
