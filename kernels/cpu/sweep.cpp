#include "kernels/cpu/sweep.h"

#include <algorithm>
#include <cstring>

namespace quorate {
namespace {

using Index = std::ptrdiff_t;

// Elements of the padded copy of a band, and windows that it should have: for
// fewer, the weights would be read too often.
constexpr std::size_t kBandElements = 1 << 16;
constexpr std::size_t kBandWindows = 256;

std::size_t ceil_div(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// The channels of one pixel. A call would cost more than few channels do.
void copy_channels(const float* from, std::size_t count, float* to) {
  constexpr std::size_t kBlock = 16;
  std::size_t c = 0;
  for (; c + kBlock <= count; c += kBlock) {
    std::memcpy(to + c, from + c, kBlock * sizeof(float));
  }
  for (; c < count; ++c) to[c] = from[c];
}

void copy_line(const Axis& cols, const float* line, std::size_t of,
               const ChannelRange& range, float* to) {
  auto extent = static_cast<Index>(cols.extent(cols.windows));
  auto from = static_cast<Index>(cols.from);
  Index begin = std::clamp<Index>(cols.before, 0, extent);
  Index end = std::clamp<Index>(cols.before + from, begin, extent);
  auto channels = static_cast<Index>(range.count);
  std::fill_n(to, begin * channels, 0.0F);
  const float* pixel =
      line + range.first +
      (cols.mirrored ? from - 1 - begin + cols.before : begin - cols.before) *
          static_cast<Index>(of);
  Index step = static_cast<Index>(of) * (cols.mirrored ? -1 : 1);
  if (step == channels) {
    std::copy_n(pixel, (end - begin) * channels, to + begin * channels);
  } else {
    for (Index q = begin; q < end; ++q, pixel += step) {
      copy_channels(pixel, range.count, to + q * channels);
    }
  }
  std::fill_n(to + end * channels, (extent - end) * channels, 0.0F);
}

}  // namespace

bool Axis::is_in_place() const {
  return !mirrored && before <= 0 &&
         extent(windows) - static_cast<std::size_t>(before) <= from;
}

Axis forward_axis(std::size_t in, std::size_t out, std::size_t kernel,
                  std::size_t stride, std::size_t padding) {
  return {.from = in,
          .before = static_cast<Index>(padding),
          .step = stride,
          .windows = out,
          .taps = kernel};
}

// Input pixel i = stride * a + residue - padding was seen by output pixel a - j
// through tap residue + stride * j.
Axis gradient_axis(std::size_t in, std::size_t out, std::size_t kernel,
                   std::size_t stride, std::size_t padding,
                   std::size_t residue) {
  Axis axis{.from = out, .first_tap = residue, .tap_step = stride};
  if (in + padding <= residue) return axis;
  std::size_t least =
      padding > residue ? ceil_div(padding - residue, stride) : 0;
  std::size_t most = (in - 1 + padding - residue) / stride;
  if (least > most) return axis;
  axis.windows = most - least + 1;
  axis.taps = kernel > residue ? ceil_div(kernel - residue, stride) : 0;
  // One tap lies to the right as well as to the left.
  axis.mirrored = axis.taps > 1;
  auto s = static_cast<Index>(stride);
  auto begin = static_cast<Index>(axis.mirrored ? most : least);
  axis.before = axis.mirrored ? begin + 1 - static_cast<Index>(out) : -begin;
  axis.to =
      s * begin + static_cast<Index>(residue) - static_cast<Index>(padding);
  axis.to_step = axis.mirrored ? -s : s;
  return axis;
}

void copy_padded(const Axis& rows, const Axis& cols, const float* image,
                 std::size_t of, const ChannelRange& range, std::size_t first,
                 std::size_t lines, float* to) {
  std::size_t size = cols.extent(cols.windows) * range.count;
  auto from = static_cast<Index>(rows.from);
  for (std::size_t n = 0; n < lines; ++n, to += size) {
    Index row = static_cast<Index>(first + n) - rows.before;
    if (row < 0 || row >= from) {
      std::fill_n(to, size, 0.0F);
      continue;
    }
    if (rows.mirrored) row = from - 1 - row;
    copy_line(cols, image + static_cast<std::size_t>(row) * cols.from * of, of,
              range, to);
  }
}

void list_ranges(const Axis& axis, std::vector<WindowRange>& ranges) {
  ranges.clear();
  auto taps = static_cast<Index>(axis.taps);
  for (std::size_t i = 0; i < axis.windows; ++i) {
    // Of the window, in the image.
    Index first = static_cast<Index>(i * axis.step) - axis.before;
    Index lead = std::clamp<Index>(-first, 0, taps);
    Index trail = std::clamp<Index>(
        first + taps - static_cast<Index>(axis.from), 0, taps - lead);
    WindowRange range{i, 1, static_cast<std::size_t>(lead),
                      static_cast<std::size_t>(trail)};
    if (!ranges.empty() && ranges.back().lead == range.lead &&
        ranges.back().trail == range.trail) {
      ++ranges.back().count;
    } else {
      ranges.push_back(range);
    }
  }
}

void list_zeros(std::size_t taps, std::size_t channels,
                std::vector<Span>& spans) {
  spans.clear();
  for (std::size_t k = 0; k < taps * channels;) {
    std::size_t end =
        std::min((k / channels + 1) * channels, (k / kSegment + 1) * kSegment);
    spans.push_back({static_cast<Index>(k), end - k});
    k = end;
  }
}

void list_taps(const Axis& rows, const Axis& cols, std::size_t channels,
               std::size_t line, const WindowRange& row_range,
               const WindowRange& col_range, std::vector<Span>& spans) {
  auto is_padding = [](const Axis& axis, const WindowRange& range,
                       std::size_t tap) {
    return tap < range.lead || tap >= axis.taps - range.trail;
  };
  std::size_t depth = rows.taps * cols.taps * channels;
  Index zeros = 0;
  std::size_t first = spans.size();
  for (std::size_t k = 0; k < depth; ++zeros) {
    std::size_t row = k / channels / cols.taps;
    std::size_t col = k / channels % cols.taps;
    std::size_t end =
        std::min((k / channels + 1) * channels, (k / kSegment + 1) * kSegment);
    bool ends_segment = end % kSegment == 0 || end == depth;
    bool is_zero =
        is_padding(rows, row_range, row) || is_padding(cols, col_range, col);
    auto offset =
        static_cast<Index>(row * line + k - row * cols.taps * channels);
    // Taps side by side are one span.
    bool joins =
        !is_zero && spans.size() > first && spans.back().zeros < 0 &&
        !spans.back().ends_segment &&
        spans.back().offset + static_cast<Index>(spans.back().count) == offset;
    if (joins) {
      spans.back().count += end - k;
      spans.back().ends_segment = ends_segment;
    } else {
      spans.push_back({offset, end - k, ends_segment, is_zero ? zeros : -1});
    }
    k = end;
  }
}

Bands cut_bands(const Axis& rows, const Axis& cols, std::size_t channels,
                std::size_t images, unsigned threads) {
  std::size_t line = cols.extent(cols.windows) * channels;
  std::size_t wanted = std::max(ceil_div(kBandWindows, cols.windows),
                                kBandElements / (line * rows.step));
  if (threads > 1) {
    std::size_t share =
        ceil_div(images * rows.windows, threads * kBandsPerThread);
    std::size_t least = ceil_div(kBandWindows / 4, cols.windows);
    wanted = std::min(wanted, std::max(share, least));
  }
  if (wanted >= rows.windows) {
    std::size_t whole = std::min(images, wanted / rows.windows);
    return {whole, rows.windows, 1, ceil_div(images, whole)};
  }
  std::size_t per_image = ceil_div(rows.windows, wanted);
  std::size_t height = ceil_div(rows.windows, per_image);
  per_image = ceil_div(rows.windows, height);
  return {1, height, per_image, images * per_image};
}

Band band_of(const Bands& bands, const Axis& rows, std::size_t images,
             std::size_t i) {
  std::size_t image = i / bands.per_image * bands.images;
  std::size_t row = i % bands.per_image * bands.rows;
  return {image, std::min(bands.images, images - image), row,
          std::min(bands.rows, rows.windows - row)};
}

}  // namespace quorate
