// Convolutions (docs/numerics.md, section 4) as matrix products whose left side
// is read out of padded lines of the images (sweep.h).
//
// Forward and the gradient of x are sweeps: windows over padded lines, with the
// weights as the packed side. The gradient of w (weight_gradient.cpp) is the
// transposed windows times the gradients of the output. Convolutions with one
// channel per group (depthwise) have loops of their own, since a product with
// one column would fill one lane of a vector.
//
// One per backend; its buffers are kept from call to call and grow to the
// largest layer. Before the pool starts, everything is sized, so that no task
// allocates.
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

// All arguments are borrowed and outlive it.
class Convolver {
 public:
  // scratch: of each thread of the pool, for `multiply`.
  Convolver(ThreadPool& pool, const MatmulKernels& matmul,
            const DepthwiseKernels& depthwise,
            const ElementwiseKernels& elementwise,
            const std::vector<AlignedFloats>& scratch);

  // As the operations of Backend, on dense arrays whose sizes were checked.
  // Throw io if there is no memory. The input gradient makes stride x stride
  // sweeps, one for each residue of the input pixels, as each has its own taps.
  void forward(const ConvolutionSizes& n, const float* x, const float* w,
               float* y, const Finish& finish);
  void input_gradient(const ConvolutionSizes& n, const float* dy,
                      const float* w, float* dx);
  void weight_gradient(const ConvolutionSizes& n, const float* x,
                       const float* dy, float* dw);

 private:
  // Some input channels of one group, whose weights' gradients one task makes.
  struct Slice;
  // Up to 256 output pixels: one segment of the sum over pixels.
  struct Segment;

  // What a thread holds while it works on a band or a slice.
  struct PerThread {
    HostBuffer lines;   // padded
    HostBuffer packed;  // gradients of the output, in panels
    std::vector<RowClass> classes;
    std::vector<Span> pixels;
    std::vector<std::ptrdiff_t> rows;
  };

  // More than one group, each with one channel in and one out, and taps that
  // fit one segment. Decides which loops run, not which bits come out.
  static bool is_depthwise(const ConvolutionSizes& n);
  template <class F>
  static void for_kernel_taps(const Sweep& sweep, const F& f);

  // Computes all windows of a sweep: cuts it into bands, packs the weights,
  // lists the windows, and lets the pool take (band, group) pairs. Windows
  // without any tap get +0.
  void run(const Sweep& sweep);
  // How a sweep is cut for the pool's threads.
  Bands cut(const Sweep& sweep) const;
  // Fills weights_ (panels for `multiply`, or plain rows for depthwise), and
  // the sums over zeros that windows at the border use instead of products.
  void pack_weights(const Sweep& sweep);
  // Lists where the rows of a band begin in R and in C, relative to the band's
  // first: for all bands alike, so once per sweep.
  void place_windows(const Sweep& sweep, const Bands& bands);
  // Adds the windows of these ranges as one class, with their taps.
  void place_class(const Sweep& sweep, const Bands& bands,
                   const WindowRange& rows, const WindowRange& cols);
  const float* lines_of(const Sweep& sweep, const Band& band, std::size_t group,
                        unsigned thread);
  // One task: copies the band's lines unless they can be read in place, and
  // multiplies them by the packed weights of a group.
  void multiply_band(const Sweep& sweep, const Band& band, std::size_t group,
                     unsigned thread);

  // Sizes every thread's buffers for a weight gradient.
  void reserve(const ConvolutionSizes& n, std::size_t channels,
               std::size_t segments);
  // Copies the lines that output pixels [begin, end) see to own.lines, and
  // lists in own.pixels where their windows begin. Returns the lines.
  static const float* place_pixels(const ConvolutionSizes& n,
                                   const Slice& slice, std::size_t begin,
                                   std::size_t end, PerThread& own);
  // Adds segments [first, first + count) of the pixels to dw, or writes them
  // if they are the first.
  void add_segments(const ConvolutionSizes& n, const Slice& slice,
                    std::size_t first, std::size_t count, unsigned thread);
  // Offsets of the taps in R, or of the rows of dw, for `line` elements a line.
  static void place_taps(const ConvolutionSizes& n, const Slice& slice,
                         std::size_t line,
                         std::vector<std::ptrdiff_t>& offsets);
  // One segment's product, added to dw or written if it is the first.
  void add_segment(const ConvolutionSizes& n, const Slice& slice,
                   const Segment& segment, unsigned thread);
  // dy at those pixels in panels; dy itself if it lies that way already.
  // first, depth: output pixels, at most a segment of them.
  const float* place_gradients(const ConvolutionSizes& n, const Slice& slice,
                               std::size_t first, std::size_t depth,
                               unsigned thread);
  // All pixels, by groups and by `splits` ranges of their channels: each task
  // owns its part of dw, and takes the segments in order.
  void add_in_turn(const ConvolutionSizes& n, const float* x, const float* dy,
                   std::size_t groups, std::size_t splits, float* dw);
  // For few channels and many pixels: tasks make the segments apart, then their
  // sums are added in order of the segments. Holds 4 MiB of them at a time.
  void add_partials(const ConvolutionSizes& n, const float* x, const float* dy,
                    float* dw);

  ThreadPool& pool_;
  const MatmulKernels& matmul_;
  const DepthwiseKernels& depthwise_;
  const ElementwiseKernels& elementwise_;
  const std::vector<AlignedFloats>& scratch_;
  // By the number of the thread in the pool.
  std::vector<PerThread> threads_;
  // Buffers of one sweep or gradient; written before the pool runs.
  HostBuffer weights_;  // in panels
  HostBuffer partials_;
  HostBuffer zeros_;  // of the same panels
  std::vector<Span> zero_spans_;
  // Windows of a band that see the padding alike, with their taps: they lie
  // side by side in the tables below.
  // first: in window_rows_ and result_rows_; per_image: how many windows of one
  // image are in the class.
  struct Class {
    std::size_t first = 0;
    std::size_t per_image = 0;
    std::size_t first_tap = 0;  // in taps_
  };
  // Filled by place_windows() for one sweep; read by all tasks.
  std::vector<Class> classes_;
  std::vector<WindowRange> row_ranges_;
  std::vector<WindowRange> col_ranges_;
  std::vector<Span> taps_;
  std::vector<std::ptrdiff_t> window_rows_;
  std::vector<std::ptrdiff_t> result_rows_;
  std::vector<std::ptrdiff_t> tap_offsets_;  // of depthwise ones
};

}  // namespace quorate
