// Convolutions (docs/numerics.md, section 4) as matrix products whose left side
// is read out of padded lines of the images (sweep.h).
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cpu/sweep.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/vector/depthwise.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/product.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

class Convolver {
 public:
  // scratch: of each thread of the pool, for `multiply`.
  Convolver(ThreadPool& pool, const MatmulKernels& matmul,
            const DepthwiseKernels& depthwise,
            const ElementwiseKernels& elementwise,
            const std::vector<AlignedFloats>& scratch);

  // As the operations of Backend. Throw io if there is no memory.
  void forward(const ConvolutionSizes& n, const float* x, const float* w,
               float* y, const Finish& finish);
  void input_gradient(const ConvolutionSizes& n, const float* dy,
                      const float* w, float* dx);
  void weight_gradient(const ConvolutionSizes& n, const float* x,
                       const float* dy, float* dw);

 private:
  struct Slice;
  struct Segment;

  struct PerThread {
    HostBuffer lines;   // padded
    HostBuffer packed;  // gradients of the output, in panels
    std::vector<RowClass> classes;
    std::vector<Span> pixels;
    std::vector<std::ptrdiff_t> rows;
  };

  static bool is_depthwise(const ConvolutionSizes& n);
  template <class F>
  static void for_kernel_taps(const Sweep& sweep, const F& f);

  // Result pixels of a sweep, over all images and groups.
  void run(const Sweep& sweep);
  Bands cut(const Sweep& sweep) const;
  void pack_weights(const Sweep& sweep);
  // Where the rows of a band begin in R and in C: for all bands alike.
  void place_windows(const Sweep& sweep, const Bands& bands);
  void place_class(const Sweep& sweep, const Bands& bands,
                   const WindowRange& rows, const WindowRange& cols);
  const float* lines_of(const Sweep& sweep, const Band& band, std::size_t group,
                        unsigned thread);
  void multiply_band(const Sweep& sweep, const Band& band, std::size_t group,
                     unsigned thread);

  void reserve(const ConvolutionSizes& n, std::size_t channels,
               std::size_t segments);
  static const float* place_pixels(const ConvolutionSizes& n,
                                   const Slice& slice, std::size_t begin,
                                   std::size_t end, PerThread& own);
  // Adds segments [first, first + count) of the pixels to dw, or writes them
  // if they are the first.
  void add_segments(const ConvolutionSizes& n, const Slice& slice,
                    std::size_t first, std::size_t count, unsigned thread);
  static void place_taps(const ConvolutionSizes& n, const Slice& slice,
                         std::size_t line,
                         std::vector<std::ptrdiff_t>& offsets);
  void add_segment(const ConvolutionSizes& n, const Slice& slice,
                   const Segment& segment, unsigned thread);
  const float* place_gradients(const ConvolutionSizes& n, const Slice& slice,
                               std::size_t first, std::size_t depth,
                               unsigned thread);
  // All pixels, by groups and by `splits` ranges of their channels.
  void add_in_turn(const ConvolutionSizes& n, const float* x, const float* dy,
                   std::size_t groups, std::size_t splits, float* dw);
  void add_partials(const ConvolutionSizes& n, const float* x, const float* dy,
                    float* dw);

  ThreadPool& pool_;
  const MatmulKernels& matmul_;
  const DepthwiseKernels& depthwise_;
  const ElementwiseKernels& elementwise_;
  const std::vector<AlignedFloats>& scratch_;
  std::vector<PerThread> threads_;
  HostBuffer weights_;  // in panels
  HostBuffer partials_;
  HostBuffer zeros_;  // of the same panels
  std::vector<Span> zero_spans_;
  // Windows of a band that see the padding alike, with their taps: they lie
  // side by side in the tables below.
  struct Class {
    std::size_t first = 0;
    std::size_t per_image = 0;
    std::size_t first_tap = 0;  // in taps_
  };
  std::vector<Class> classes_;
  std::vector<WindowRange> row_ranges_;
  std::vector<WindowRange> col_ranges_;
  std::vector<Span> taps_;
  std::vector<std::ptrdiff_t> window_rows_;
  std::vector<std::ptrdiff_t> result_rows_;
  std::vector<std::ptrdiff_t> tap_offsets_;  // of depthwise ones
};

}  // namespace quorate
