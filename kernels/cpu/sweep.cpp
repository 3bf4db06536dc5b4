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

void list_taps(const Axis& rows, const Axis& cols, std::size_t channels,
               std::size_t line, std::vector<Span>& spans) {
  spans.clear();
  std::size_t to_end = kSegment;  // of the segment
  for (std::size_t row = 0; row < rows.taps; ++row) {
    std::size_t size = cols.taps * channels;
    for (std::size_t at = 0; at < size;) {
      std::size_t count = std::min(size - at, to_end);
      to_end -= count;
      spans.push_back(
          {static_cast<Index>(row * line + at), count, to_end == 0});
      if (to_end == 0) to_end = kSegment;
      at += count;
    }
  }
  if (!spans.empty()) spans.back().ends_segment = true;
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
