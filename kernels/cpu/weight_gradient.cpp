// The gradient of a convolution's weights: for every line of taps, the product
// of the transposed windows and the gradients of the output, over all pixels.
#include <algorithm>

#include "kernels/cpu/convolution.h"

namespace quorate {
namespace {

// Elements of padded lines that a thread holds at a time: half of a usual
// second-level cache, if a segment takes no more.
constexpr std::size_t kLineElements = 1 << 16;
// Elements of the segments' products that are held at a time.
constexpr std::size_t kPartialElements = 1 << 20;
// Elements that one task of an addition takes.
constexpr std::size_t kGrain = 16384;
// Input channels that are worth a thread of their own.
constexpr std::size_t kLeastChannels = 16;

std::size_t ceil_div(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// Pixels of one image, of those of a batch.
struct PixelRun {
  std::size_t image;
  std::size_t first;
  std::size_t end;
};

// Calls f(PixelRun) for the pixels [first, end) of a batch.
template <class F>
void for_images(const ImageSizes& n, std::size_t first, std::size_t end,
                const F& f) {
  std::size_t size = n.height * n.width;
  while (first < end) {
    std::size_t image = first / size;
    std::size_t stop = std::min(end, (image + 1) * size);
    f(PixelRun{image, first - image * size, stop - image * size});
    first = stop;
  }
}

Axis rows_of(const ConvolutionSizes& n) {
  return forward_axis(n.in.height, n.out.height, n.kernel_height, n.stride,
                      n.padding);
}

Axis cols_of(const ConvolutionSizes& n) {
  return forward_axis(n.in.width, n.out.width, n.kernel_width, n.stride,
                      n.padding);
}

// Segments whose lines are copied at a time.
std::size_t segments_at_a_time(const ConvolutionSizes& n, std::size_t line) {
  std::size_t segment = ceil_div(kSegment, n.out.width) * n.stride * line;
  return std::max<std::size_t>(1, kLineElements / segment);
}

}  // namespace

// The input channels of one group, or some of them, whose weights' gradients
// are made at a time.
struct Convolver::Slice {
  const float* x = nullptr;
  const float* dy = nullptr;
  std::size_t group = 0;
  ChannelRange channels{};  // within the group
  float* dw = nullptr;
};

// Some pixels of the output, and their windows.
struct Convolver::Segment {
  std::size_t first = 0;
  std::size_t count = 0;
  const float* r = nullptr;
  std::size_t line = 0;  // elements of a line of R
  const Span* spans = nullptr;
  bool continues = false;
};

// Where the taps of a depthwise convolution lie in R; else where the rows of dw
// for one line of taps (their columns and channels) begin.
void Convolver::place_taps(const ConvolutionSizes& n, const Slice& slice,
                           std::size_t line,
                           std::vector<std::ptrdiff_t>& offsets) {
  offsets.clear();
  if (is_depthwise(n)) {
    for (std::size_t tap = 0; tap < n.kernel_height * n.kernel_width; ++tap) {
      offsets.push_back(static_cast<std::ptrdiff_t>(
          tap / n.kernel_width * line +
          tap % n.kernel_width * slice.channels.count));
    }
    return;
  }
  for (std::size_t tap = 0; tap < n.kernel_width; ++tap) {
    for (std::size_t i = 0; i < slice.channels.count; ++i) {
      offsets.push_back(static_cast<std::ptrdiff_t>(
          (tap * n.in_channels() + slice.channels.first + i) * n.out.channels));
    }
  }
}

void Convolver::add_segment(const ConvolutionSizes& n, const Slice& slice,
                            const Segment& segment, unsigned thread) {
  const std::vector<std::ptrdiff_t>& rows = threads_[thread].rows;
  std::size_t step = n.stride * slice.channels.count;
  if (is_depthwise(n)) {
    std::size_t first = slice.channels.first;
    return depthwise_.segment(
        {.r = segment.r,
         .spans = segment.spans,
         .r_k = step,
         .taps = rows.data(),
         .tap_count = rows.size(),
         .dy = slice.dy + segment.first * n.out.channels + first,
         .dy_k = n.out.channels,
         .dw = slice.dw + first,
         .w_tap = n.out.channels,
         .channels = slice.channels.count,
         .continues = segment.continues});
  }
  const float* gradients =
      place_gradients(n, slice, segment.first, segment.count, thread);
  RowClass all{0, rows.size(), segment.spans};
  std::size_t dw_line = n.kernel_width * n.in_channels() * n.out.channels;
  for (std::size_t row = 0; row < n.kernel_height; ++row) {
    matmul_.multiply(
        {.r = segment.r + row * segment.line,
         .r_row = 1,
         .r_k = step,
         .c = slice.dw + slice.group * n.out_channels() + row * dw_line,
         .c_col = 1,
         .rows = rows.size(),
         .cols = n.out_channels(),
         .depth = segment.count,
         .c_rows = rows.data(),
         .classes = &all,
         .class_count = 1,
         .packed_v = gradients,
         .continues = segment.continues},
        scratch_[thread].get());
  }
}

// Room on every thread for the segments that it takes at a time, of so many
// input channels. Which threads will take some is not known.
void Convolver::reserve(const ConvolutionSizes& n, std::size_t channels,
                        std::size_t segments) {
  std::size_t line = cols_of(n).extent(n.out.width) * channels;
  segments = std::min(segments, segments_at_a_time(n, line));
  // Images and rows that so many pixels touch at most.
  std::size_t pixels = std::min(segments * kSegment, n.out.pixels());
  std::size_t images = pixels / (n.out.height * n.out.width) + 2;
  std::size_t rows = pixels / n.out.width + 2 * images;
  for (PerThread& own : threads_) {
    own.lines.of((rows * n.stride + images * n.kernel_height) * line);
    own.packed.of(packed_size(n.out_channels(), kSegment, matmul_.lanes));
    own.pixels.reserve(rows + segments);
    own.rows.reserve(
        std::max(n.kernel_width * channels, n.kernel_height * n.kernel_width));
  }
}

// Copies the lines that the windows of output pixels [begin, end) see, and
// lists where in them these windows begin; `begin` begins a segment.
const float* Convolver::place_pixels(const ConvolutionSizes& n,
                                     const Slice& slice, std::size_t begin,
                                     std::size_t end, PerThread& own) {
  Axis rows = rows_of(n);
  Axis cols = cols_of(n);
  std::size_t channels = slice.channels.count;
  std::size_t line = cols.extent(cols.windows) * channels;
  auto lines_of = [&](const PixelRun& run) {
    return rows.extent((run.end - 1) / n.out.width - run.first / n.out.width +
                       1);
  };
  std::size_t lines = 0;
  for_images(n.out, begin, end,
             [&](const PixelRun& run) { lines += lines_of(run); });
  float* copy = own.lines.of(lines * line);
  own.pixels.clear();
  std::size_t at = 0;     // in the copy
  std::size_t pixel = 0;  // from `begin` on
  for_images(n.out, begin, end, [&](const PixelRun& run) {
    std::size_t first_row = run.first / n.out.width;
    copy_padded(
        rows, cols, slice.x + run.image * n.in.image(), n.in.channels,
        {slice.group * n.in_channels() + slice.channels.first, channels},
        first_row * n.stride, lines_of(run), copy + at);
    for (std::size_t q = run.first; q < run.end;) {
      std::size_t row = q / n.out.width;
      std::size_t stop = std::min(
          {run.end, (row + 1) * n.out.width, q + kSegment - pixel % kSegment});
      pixel += stop - q;
      std::size_t offset = at + (row - first_row) * n.stride * line +
                           q % n.out.width * n.stride * channels;
      own.pixels.push_back({static_cast<std::ptrdiff_t>(offset), stop - q,
                            pixel % kSegment == 0 || begin + pixel == end});
      q = stop;
    }
    at += lines_of(run) * line;
  });
  return copy;
}

void Convolver::add_segments(const ConvolutionSizes& n, const Slice& slice,
                             std::size_t first, std::size_t count,
                             unsigned thread) {
  PerThread& own = threads_[thread];
  Axis cols = cols_of(n);
  std::size_t line = cols.extent(cols.windows) * slice.channels.count;
  place_taps(n, slice, line, own.rows);
  std::size_t chunk = segments_at_a_time(n, line);
  for (std::size_t at = first; at < first + count; at += chunk) {
    std::size_t begin = at * kSegment;
    std::size_t end = std::min(std::min(at + chunk, first + count) * kSegment,
                               n.out.pixels());
    const float* r = place_pixels(n, slice, begin, end, own);
    const Span* span = own.pixels.data();
    for (std::size_t q = begin; q < end; q += kSegment) {
      add_segment(n, slice,
                  {.first = q,
                   .count = std::min(kSegment, end - q),
                   .r = r,
                   .line = line,
                   .spans = span,
                   .continues = q > first * kSegment},
                  thread);
      while (!span++->ends_segment) {
      }
    }
  }
}

// The gradients of the output at pixels [first, first + depth), in panels.
const float* Convolver::place_gradients(const ConvolutionSizes& n,
                                        const Slice& slice, std::size_t first,
                                        std::size_t depth, unsigned thread) {
  const float* dy =
      slice.dy + first * n.out.channels + slice.group * n.out_channels();
  std::size_t panels = panel_count(n.out_channels(), matmul_.lanes);
  if (panels == 1 && n.groups == 1 && n.out.channels % matmul_.lanes == 0) {
    return dy;
  }
  float* packed = threads_[thread].packed.of(
      packed_size(n.out_channels(), kSegment, matmul_.lanes));
  for (std::size_t i = 0; i < panels; ++i) {
    PanelCut cut = cut_panel(n.out_channels(), matmul_.lanes, i);
    matmul_.pack(dy + cut.first, n.out.channels, 1, depth, cut,
                 packed + cut.first * depth);
  }
  return packed;
}

// Threads share the input channels. Where these are few, the result is small:
// then they share the segments, whose products are added in their order.
void Convolver::weight_gradient(const ConvolutionSizes& n, const float* x,
                                const float* dy, float* dw) {
  if (n.out.pixels() == 0) {
    std::fill_n(dw, n.weight_rows() * n.weight_cols(), 0.0F);
    return;
  }
  if (is_depthwise(n)) {
    return add_in_turn(n, x, dy, 1,
                       std::clamp<std::size_t>(n.in.channels / kLeastChannels,
                                               1, pool_.threads()),
                       dw);
  }
  std::size_t splits = std::clamp<std::size_t>(
      ceil_div(pool_.threads(), n.groups), 1,
      std::max<std::size_t>(1, n.in_channels() / kLeastChannels));
  if (n.groups * splits < pool_.threads()) {
    add_partials(n, x, dy, dw);
  } else {
    add_in_turn(n, x, dy, n.groups, splits, dw);
  }
}

void Convolver::add_in_turn(const ConvolutionSizes& n, const float* x,
                            const float* dy, std::size_t groups,
                            std::size_t splits, float* dw) {
  std::size_t channels = n.in.channels / groups;
  std::size_t segments = ceil_div(n.out.pixels(), kSegment);
  reserve(n, ceil_div(channels, splits), segments);
  pool_.run(groups * splits, [&](std::size_t i, unsigned thread) {
    std::size_t first = i % splits * channels / splits;
    std::size_t end = (i % splits + 1) * channels / splits;
    add_segments(n, {x, dy, i / splits, {first, end - first}, dw}, 0, segments,
                 thread);
  });
}

void Convolver::add_partials(const ConvolutionSizes& n, const float* x,
                             const float* dy, float* dw) {
  std::size_t size = n.weight_rows() * n.weight_cols();
  std::size_t segments = ceil_div(n.out.pixels(), kSegment);
  std::size_t most =
      std::max<std::size_t>(pool_.threads(), kPartialElements / size);
  float* partials = partials_.of(std::min(most, segments) * size);
  reserve(n, n.in_channels(), 1);
  for (std::size_t first = 0; first < segments; first += most) {
    std::size_t count = std::min(most, segments - first);
    pool_.run(count, [&](std::size_t i, unsigned thread) {
      for (std::size_t group = 0; group < n.groups; ++group) {
        add_segments(n,
                     {x, dy, group, {0, n.in_channels()}, partials + i * size},
                     first + i, 1, thread);
      }
    });
    pool_.run(ceil_div(size, kGrain), [&](std::size_t piece, unsigned) {
      std::size_t at = piece * kGrain;
      std::size_t length = std::min(kGrain, size - at);
      for (std::size_t i = 0; i < count; ++i) {
        const float* partial = partials + i * size + at;
        if (first + i == 0) {
          std::copy_n(partial, length, dw + at);
        } else {
          elementwise_.add(dw + at, partial, dw + at, length);
        }
      }
    });
  }
}

}  // namespace quorate
