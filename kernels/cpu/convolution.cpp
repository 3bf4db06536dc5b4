#include "kernels/cpu/convolution.h"

#include <algorithm>

namespace quorate {

bool Convolver::is_depthwise(const ConvolutionSizes& n) {
  return n.groups > 1 && n.in_channels() == 1 && n.out_channels() == 1 &&
         n.kernel_height * n.kernel_width <= kMostDepthwiseTaps;
}

Convolver::Convolver(ThreadPool& pool, const MatmulKernels& matmul,
                     const DepthwiseKernels& depthwise,
                     const ElementwiseKernels& elementwise,
                     const std::vector<AlignedFloats>& scratch)
    : pool_(pool),
      matmul_(matmul),
      depthwise_(depthwise),
      elementwise_(elementwise),
      scratch_(scratch),
      threads_(pool.threads()) {}

void Convolver::forward(const ConvolutionSizes& n, const float* x,
                        const float* w, float* y, const Finish& finish) {
  bool depthwise = is_depthwise(n);
  run({.rows = forward_axis(n.in.height, n.out.height, n.kernel_height,
                            n.stride, n.padding),
       .cols = forward_axis(n.in.width, n.out.width, n.kernel_width, n.stride,
                            n.padding),
       .images = n.in.images,
       .groups = depthwise ? 1 : n.groups,
       .from = x,
       .from_channels = depthwise ? n.in.channels : n.in_channels(),
       .to = y,
       .to_channels = depthwise ? n.out.channels : n.out_channels(),
       .to_height = n.out.height,
       .to_width = n.out.width,
       .w = w,
       .kernel_width = n.kernel_width,
       .depthwise = depthwise,
       .w_tap = n.in_channels() * n.out.channels,
       .w_group = n.out_channels(),
       .w_read = n.out.channels,
       .w_made = 1,
       .finish = finish});
}

// Each residue of the input pixels by the stride has its own taps: a
// convolution of its own, of stride 1.
void Convolver::input_gradient(const ConvolutionSizes& n, const float* dy,
                               const float* w, float* dx) {
  bool depthwise = is_depthwise(n);
  Sweep sweep{.images = n.in.images,
              .groups = depthwise ? 1 : n.groups,
              .from = dy,
              .from_channels = depthwise ? n.out.channels : n.out_channels(),
              .to = dx,
              .to_channels = depthwise ? n.in.channels : n.in_channels(),
              .to_height = n.in.height,
              .to_width = n.in.width,
              .w = w,
              .kernel_width = n.kernel_width,
              .depthwise = depthwise,
              .w_tap = n.in_channels() * n.out.channels,
              .w_group = n.out_channels(),
              .w_read = 1,
              .w_made = n.out.channels};
  for (std::size_t row = 0; row < n.stride; ++row) {
    sweep.rows = gradient_axis(n.in.height, n.out.height, n.kernel_height,
                               n.stride, n.padding, row);
    for (std::size_t col = 0; col < n.stride; ++col) {
      sweep.cols = gradient_axis(n.in.width, n.out.width, n.kernel_width,
                                 n.stride, n.padding, col);
      run(sweep);
    }
  }
}

void Convolver::run(const Sweep& sweep) {
  if (sweep.images * sweep.rows.windows * sweep.cols.windows == 0) return;
  // A sum over nothing is still a sum, of segments of which there are none.
  if (sweep.depth() == 0) {
    for (std::size_t image = 0; image < sweep.images; ++image) {
      float* to = sweep.to + image * sweep.to_image();
      for (std::size_t row = 0; row < sweep.rows.windows; ++row) {
        for (std::size_t col = 0; col < sweep.cols.windows; ++col) {
          std::fill_n(to + sweep.to_offset(row, col),
                      sweep.groups * sweep.to_channels, 0.0F);
        }
      }
    }
    return;
  }
  Bands bands = cut(sweep);
  place_windows(sweep, bands);
  for (PerThread& own : threads_) own.classes.reserve(classes_.size());
  pack_weights(sweep);
  if (!sweep.is_in_place()) {
    // On every thread: which ones will take bands is not known.
    for (PerThread& own : threads_) {
      own.lines.of(bands.images * sweep.rows.extent(bands.rows) * sweep.line());
    }
  }
  pool_.run(bands.count * sweep.groups, [&](std::size_t i, unsigned thread) {
    Band band = band_of(bands, sweep.rows, sweep.images, i / sweep.groups);
    multiply_band(sweep, band, i % sweep.groups, thread);
  });
}

// Nothing is copied for a plain one: its bands are as large as may be.
Bands Convolver::cut(const Sweep& sweep) const {
  std::size_t shares =
      pool_.threads() == 1 ? 1 : kBandsPerThread * pool_.threads();
  if (sweep.is_plain() && sweep.images >= shares) {
    std::size_t images = sweep.images / shares;
    return {images, sweep.rows.windows, 1,
            (sweep.images + images - 1) / images};
  }
  return cut_bands(sweep.rows, sweep.cols, sweep.from_channels, sweep.images,
                   pool_.threads());
}

// Calls f(tap of the kernel) for those of the sweep, in its order.
template <class F>
void Convolver::for_kernel_taps(const Sweep& sweep, const F& f) {
  for (std::size_t row = 0; row < sweep.rows.taps; ++row) {
    for (std::size_t col = 0; col < sweep.cols.taps; ++col) {
      f((sweep.rows.first_tap + row * sweep.rows.tap_step) *
            sweep.kernel_width +
        sweep.cols.first_tap + col * sweep.cols.tap_step);
    }
  }
}

void Convolver::pack_weights(const Sweep& sweep) {
  if (sweep.depthwise) {
    float* to = weights_.of(sweep.depth());
    for_kernel_taps(sweep, [&](std::size_t tap) {
      to = std::copy_n(sweep.w + tap * sweep.w_tap, sweep.to_channels, to);
    });
    return;
  }
  std::size_t panels = panel_count(sweep.to_channels, matmul_.lanes);
  std::size_t size =
      packed_size(sweep.to_channels, sweep.depth(), matmul_.lanes);
  float* weights = weights_.of(sweep.groups * size);
  zero_spans_.clear();
  bool has_zeros =
      std::any_of(taps_.begin(), taps_.end(),
                  [](const Span& span) { return span.zeros >= 0; });
  if (has_zeros) {
    list_zeros(sweep.taps(), sweep.from_channels, zero_spans_);
  }
  std::size_t zeros_size =
      packed_size(sweep.to_channels, zero_spans_.size(), matmul_.lanes);
  float* zeros = zeros_.of(sweep.groups * zeros_size);
  pool_.run(sweep.groups * panels, [&](std::size_t i, unsigned) {
    std::size_t group = i / panels;
    PanelCut cut = cut_panel(sweep.to_channels, matmul_.lanes, i % panels);
    const float* w = sweep.w + group * sweep.w_group + cut.first * sweep.w_made;
    std::size_t width = cut.vectors * matmul_.lanes;
    float* panel = weights + group * size + cut.first * sweep.depth();
    float* to = panel;
    for_kernel_taps(sweep, [&](std::size_t tap) {
      matmul_.pack(w + tap * sweep.w_tap, sweep.w_read, sweep.w_made,
                   sweep.from_channels, cut, to);
      to += sweep.from_channels * width;
    });
    to = zeros + group * zeros_size + cut.first * zero_spans_.size();
    for (const Span& span : zero_spans_) {
      matmul_.sum_zeros(panel + static_cast<std::size_t>(span.offset) * width,
                        span.count, width, to);
      to += width;
    }
  });
}

void Convolver::place_windows(const Sweep& sweep, const Bands& bands) {
  classes_.clear();
  taps_.clear();
  window_rows_.clear();
  result_rows_.clear();
  tap_offsets_.clear();
  if (sweep.is_plain()) return;
  for (std::size_t tap = 0; tap < sweep.taps(); ++tap) {
    tap_offsets_.push_back(static_cast<std::ptrdiff_t>(
        tap / sweep.cols.taps * sweep.line() +
        tap % sweep.cols.taps * sweep.from_channels));
  }
  if (sweep.depthwise || bands.per_image > 1) {
    return place_class(sweep, bands, {0, bands.rows}, {0, sweep.cols.windows});
  }
  list_ranges(sweep.rows, row_ranges_);
  list_ranges(sweep.cols, col_ranges_);
  for (const WindowRange& rows : row_ranges_) {
    for (const WindowRange& cols : col_ranges_) {
      place_class(sweep, bands, rows, cols);
    }
  }
}

void Convolver::place_class(const Sweep& sweep, const Bands& bands,
                            const WindowRange& rows, const WindowRange& cols) {
  classes_.push_back(
      {window_rows_.size(), rows.count * cols.count, taps_.size()});
  list_taps(sweep.rows, sweep.cols, sweep.from_channels, sweep.line(), rows,
            cols, taps_);
  std::size_t from_image = sweep.is_in_place()
                               ? sweep.from_image()
                               : sweep.rows.extent(bands.rows) * sweep.line();
  for (std::size_t image = 0; image < bands.images; ++image) {
    for (std::size_t i = 0; i < rows.count * cols.count; ++i) {
      std::size_t row = rows.first + i / cols.count;
      std::size_t col = cols.first + i % cols.count;
      window_rows_.push_back(static_cast<std::ptrdiff_t>(
          image * from_image + row * sweep.rows.step * sweep.line() +
          col * sweep.cols.step * sweep.from_channels));
      result_rows_.push_back(
          static_cast<std::ptrdiff_t>(image * sweep.to_image()) +
          sweep.to_offset(row, col));
    }
  }
}

// The lines that a band reads, of one group's channels: where they are, or a
// padded copy.
const float* Convolver::lines_of(const Sweep& sweep, const Band& band,
                                 std::size_t group, unsigned thread) {
  const float* image = sweep.from + band.first_image * sweep.from_image();
  std::size_t first_line = band.first_row * sweep.rows.step;
  if (sweep.is_in_place()) {
    return image +
           (first_line - static_cast<std::size_t>(sweep.rows.before)) *
               sweep.line() -
           sweep.cols.before * static_cast<std::ptrdiff_t>(sweep.from_channels);
  }
  std::size_t lines = sweep.rows.extent(band.rows);
  float* copy = threads_[thread].lines.of(band.images * lines * sweep.line());
  float* to = copy;
  for (std::size_t i = 0; i < band.images; ++i) {
    copy_padded(sweep.rows, sweep.cols, image,
                sweep.groups * sweep.from_channels,
                {group * sweep.from_channels, sweep.from_channels}, first_line,
                lines, to);
    image += sweep.from_image();
    to += lines * sweep.line();
  }
  return copy;
}

void Convolver::multiply_band(const Sweep& sweep, const Band& band,
                              std::size_t group, unsigned thread) {
  const float* r = lines_of(sweep, band, group, thread);
  // The table begins with row 0; here it stands for the band's first.
  std::ptrdiff_t to =
      static_cast<std::ptrdiff_t>(band.first_image * sweep.to_image() +
                                  group * sweep.to_channels) +
      sweep.to_offset(band.first_row, 0) - sweep.to_offset(0, 0);
  Finish finish = sweep.finish;
  if (finish.bias) finish.bias += group * sweep.to_channels;
  if (finish.addend) finish.addend += to;
  std::size_t windows = band.images * band.rows * sweep.cols.windows;
  if (sweep.depthwise) {
    return depthwise_.windows({.r = r,
                               .r_rows = window_rows_.data(),
                               .taps = tap_offsets_.data(),
                               .tap_count = sweep.taps(),
                               .w = weights_.of(sweep.depth()),
                               .c = sweep.to + to,
                               .c_rows = result_rows_.data(),
                               .windows = windows,
                               .channels = sweep.to_channels,
                               .finish = finish});
  }
  std::size_t size =
      packed_size(sweep.to_channels, sweep.depth(), matmul_.lanes);
  Product product{.r = r,
                  .r_row = sweep.from_channels,
                  .r_k = 1,
                  .c = sweep.to + to,
                  .c_row = sweep.to_channels,
                  .c_col = 1,
                  .rows = windows,
                  .cols = sweep.to_channels,
                  .depth = sweep.depth(),
                  .packed_v = weights_.of(sweep.groups * size) + group * size,
                  .finish = finish};
  if (sweep.is_plain()) {
    matmul_.multiply(product, scratch_[thread].get());
    return;
  }
  std::size_t zeros_size =
      packed_size(sweep.to_channels, zero_spans_.size(), matmul_.lanes);
  product.zeros = zeros_.of(sweep.groups * zeros_size) + group * zeros_size;
  product.zero_count = zero_spans_.size();
  product.r_rows = window_rows_.data();
  product.c_rows = result_rows_.data();
  std::vector<RowClass>& classes = threads_[thread].classes;
  classes.clear();
  for (const Class& alike : classes_) {
    classes.push_back(
        {alike.first,
         classes_.size() == 1 ? windows : band.images * alike.per_image,
         taps_.data() + alike.first_tap});
  }
  product.classes = classes.data();
  product.class_count = classes.size();
  matmul_.multiply(product, scratch_[thread].get());
}

}  // namespace quorate
