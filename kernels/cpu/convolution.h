// Convolutions (docs/numerics.md, section 4) as matrix products: the input of
// each output pixel is gathered as a row, a patch, and patches are multiplied
// by the weights. Patches exist for a piece of the image at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// What the windows of a convolution see of an array of images: a matrix with a
// row per window, in order of (image, row, column), and a column per tap and
// channel, channels fastest; +0 outside the image.
struct Patches {
  const float* data = nullptr;
  ImageSizes from;
  ImageSizes windows;  // channels unused
  std::size_t kernel_height = 0;
  std::size_t kernel_width = 0;
  std::ptrdiff_t first = 0;  // of window 0: where its tap 0 lies
  bool backward = false;     // taps go up and left, not down and right

  std::size_t rows() const { return windows.pixels(); }
  std::size_t cols() const {
    return kernel_height * kernel_width * from.channels;
  }
};

// Writes `count` rows of the matrix, from `first` on, one after another.
void gather_patches(const Patches& patches, std::size_t first,
                    std::size_t count, float* to);

class Convolver {
 public:
  // scratch: of each thread of the pool, for `multiply`.
  Convolver(ThreadPool& pool, const MatmulKernels& matmul,
            const ElementwiseKernels& elementwise,
            const std::vector<AlignedFloats>& scratch);

  // As the operations of Backend. Throw io if there is no memory.
  void forward(const ConvolutionSizes& n, const float* x, const float* w,
               float* y);
  void input_gradient(const ConvolutionSizes& n, const float* dy,
                      const float* w, float* dx);
  void weight_gradient(const ConvolutionSizes& n, const float* x,
                       const float* dy, float* dw);

 private:
  // out (patches.rows(), cols) = patches times weights.
  void multiply(const Patches& patches, const float* weights, std::size_t cols,
                float* out);
  // The product of segment `index` of the pixels alone.
  void multiply_segment(const Patches& patches, const float* dy,
                        std::size_t cols, std::size_t index, unsigned thread,
                        float* out);

  ThreadPool& pool_;
  const MatmulKernels& matmul_;
  const ElementwiseKernels& elementwise_;
  const std::vector<AlignedFloats>& scratch_;
  std::vector<HostBuffer> patches_;  // of each thread
  HostBuffer partials_;
  HostBuffer weights_;
};

}  // namespace quorate
