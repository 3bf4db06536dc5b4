// How a pass of a convolution (docs/numerics.md, section 4) reads its images.
//
// The windows of a pass move over a copy of a few lines of the images, padded
// with +0. In it the taps of one line and their channels lie side by side, in
// the order of the sum, and all windows have their taps at the same distances:
// each window is a row of a matrix that is never written down. The gradient of
// the input goes over the taps to the left and up; its copy is mirrored, so
// that they lie to the right and down.
//
// Rejected: im2col, which writes each pixel as many times as a window has taps;
// and Winograd's or Fourier's way, whose sums are others (docs/numerics.md,
// section 4).
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cpu/vector/product.h"
#include "kernels/shapes.h"

namespace quorate {

// Rows or columns of a sweep. Window t begins at pixel t * step of the padded
// line and belongs to pixel to + t * to_step of the result; its tap j is tap
// first_tap + j * tap_step of the kernel.
// Pure description; the same for a height and for a width.
struct Axis {
  std::size_t from = 0;       // pixels of the image
  bool mirrored = false;      // the padded line begins with its last
  std::ptrdiff_t before = 0;  // +0 before the image; negative: left out of it
  std::size_t step = 1;
  std::size_t windows = 0;
  std::size_t taps = 0;
  std::size_t first_tap = 0;
  std::size_t tap_step = 1;
  std::ptrdiff_t to = 0;
  std::ptrdiff_t to_step = 1;

  // Pixels that `count` > 0 windows see.
  std::size_t extent(std::size_t count) const {
    return (count - 1) * step + taps;
  }
  // The image itself is the padded line.
  // True if windows can be read where the image lies: not mirrored, and no
  // window reaches into the padding.
  bool is_in_place() const;
};

// Output pixels that see the input through a kernel.
// in, out, kernel: sizes along the axis. All of them at least 1.
Axis forward_axis(std::size_t in, std::size_t out, std::size_t kernel,
                  std::size_t stride, std::size_t padding);
// Those input pixels i with (i + padding) % stride == residue, and the output
// pixels that saw them: only every stride-th tap can have. May have no windows,
// or no taps.
Axis gradient_axis(std::size_t in, std::size_t out, std::size_t kernel,
                   std::size_t stride, std::size_t padding,
                   std::size_t residue);

// A pass over the windows of one sweep: which elements take part, and which are
// made.
// Borrowed pointers; filled by Convolver, read by its tasks.
struct Sweep {
  Axis rows{};
  Axis cols{};
  std::size_t images = 0;
  std::size_t groups = 1;
  const float* from = nullptr;    // images of rows.from x cols.from pixels
  std::size_t from_channels = 0;  // of a group
  float* to = nullptr;
  std::size_t to_channels = 0;  // of a group
  std::size_t to_height = 0;
  std::size_t to_width = 0;
  // Of tap t and group g, weight (channel read, channel made) is
  // w[t * w_tap + g * w_group + read * w_read + made * w_made].
  const float* w = nullptr;
  std::size_t kernel_width = 0;
  // Each channel is a group of its own; then `groups` is 1 here, and of tap t
  // and channel c the weight is w[t * w_tap + c].
  bool depthwise = false;
  std::size_t w_tap = 0;
  std::size_t w_group = 0;
  std::size_t w_read = 0;
  std::size_t w_made = 0;
  Finish finish{};

  bool is_in_place() const {
    return groups == 1 && rows.is_in_place() && cols.is_in_place();
  }
  // One tap that sees every pixel: a product of the whole images.
  bool is_plain() const {
    return !depthwise && is_in_place() && taps() == 1 && rows.step == 1 &&
           cols.step == 1 && rows.to_step == 1 && cols.to_step == 1 &&
           rows.windows == rows.from && cols.windows == cols.from;
  }
  // Of a line as it is read, in elements.
  std::size_t line() const {
    return (is_in_place() ? cols.from : cols.extent(cols.windows)) *
           from_channels;
  }
  std::size_t taps() const { return rows.taps * cols.taps; }
  std::size_t depth() const { return taps() * from_channels; }
  std::size_t from_image() const {
    return rows.from * cols.from * groups * from_channels;
  }
  std::size_t to_image() const {
    return to_height * to_width * groups * to_channels;
  }
  // Of a window's result in its image.
  std::ptrdiff_t to_offset(std::size_t row, std::size_t col) const {
    std::ptrdiff_t y =
        rows.to + static_cast<std::ptrdiff_t>(row) * rows.to_step;
    std::ptrdiff_t x =
        cols.to + static_cast<std::ptrdiff_t>(col) * cols.to_step;
    return (y * static_cast<std::ptrdiff_t>(to_width) + x) *
           static_cast<std::ptrdiff_t>(groups * to_channels);
  }
};

// Channels of an image that are read: those of a group.
// Channels are counted from the first of the image.
struct ChannelRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Copies `lines` padded lines, from line `first` on, of one image of `of`
// channels: the channels of `range` only.
void copy_padded(const Axis& rows, const Axis& cols, const float* image,
                 std::size_t of, const ChannelRange& range, std::size_t first,
                 std::size_t lines, float* to);

// Windows [first, first + count) of an axis, whose first `lead` and last
// `trail` taps alone lie in the padding.
struct WindowRange {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t lead = 0;
  std::size_t trail = 0;
};
// All windows, in ranges of windows that are alike.
void list_ranges(const Axis& axis, std::vector<WindowRange>& ranges);

// Adds the taps of windows of these ranges as spans, where lines are `line`
// elements long. Those in the padding are spans of zeros.
void list_taps(const Axis& rows, const Axis& cols, std::size_t channels,
               std::size_t line, const WindowRange& row_range,
               const WindowRange& col_range, std::vector<Span>& spans);
// The steps that spans of zeros may have, in the order of their numbers.
void list_zeros(std::size_t taps, std::size_t channels,
                std::vector<Span>& spans);

// Bands of each thread, for all to end at about the same time.
// A band is one task. Fewer would leave threads idle at the end of a sweep;
// more would read the weights too often.
inline constexpr std::size_t kBandsPerThread = 4;

// The windows of a sweep in pieces: some images, or some rows of one.
struct Bands {
  std::size_t images = 1;     // of a band, at most
  std::size_t rows = 0;       // of windows, of a band, at most
  std::size_t per_image = 1;  // more than one only if `images` is 1
  std::size_t count = 0;
};
struct Band {
  std::size_t first_image = 0;
  std::size_t images = 0;
  std::size_t first_row = 0;
  std::size_t rows = 0;
};
// channels: that are read. Enough bands to keep the threads busy.
Bands cut_bands(const Axis& rows, const Axis& cols, std::size_t channels,
                std::size_t images, unsigned threads);
// Band i, cut off at the last image and the last row of windows.
Band band_of(const Bands& bands, const Axis& rows, std::size_t images,
             std::size_t i);

}  // namespace quorate
