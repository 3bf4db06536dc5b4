// Pooling and means of images on all threads: images are tasks, so one image
// alone uses one thread.
#pragma once

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// As the operations of Backend, on dense arrays whose sizes were checked. One
// per backend; borrows all arguments.
class Pooler {
 public:
  Pooler(Tasks& tasks, const PoolingKernels& pooling,
         const ReductionKernels& reduction,
         const ElementwiseKernels& elementwise)
      : tasks_(tasks),
        pooling_(pooling),
        reduction_(reduction),
        elementwise_(elementwise),
        sums_(tasks.threads()) {}

  // Writes y. Any window has at least one tap inside the image, since the
  // padding is at most half of the size.
  void max(const PoolingSizes& n, const Pooling& how, const float* x, float* y);
  // Writes dx; one image per task, so no two tasks write one element.
  void max_gradient(const PoolingSizes& n, const Pooling& how, const float* x,
                    const float* dy, float* dx);
  // reciprocal: 1 / size^2, whatever part of the window lies inside.
  void average(const PoolingSizes& n, const Pooling& how, float reciprocal,
               const float* x, float* y);
  // The same for averages.
  void average_gradient(const PoolingSizes& n, const Pooling& how,
                        float reciprocal, const float* dy, float* dx);
  // Means over the pixels of an image, in R2 order. Throws io if there is no
  // memory for the sums of its segments.
  void mean(const PixelSizes& n, float reciprocal, const float* x, float* y);
  void mean_gradient(const PixelSizes& n, float reciprocal, const float* dy,
                     float* dx);

 private:
  // Calls f(offset of its input, offset of its output) for every image.
  // Offsets in elements.
  template <class F>
  void for_images(const PoolingSizes& n, const F& f);

  Tasks& tasks_;
  const PoolingKernels& pooling_;
  const ReductionKernels& reduction_;
  const ElementwiseKernels& elementwise_;
  ThreadBuffers sums_;  // (segments,channels), of the pixels of an image
};

}  // namespace quorate
