#include "kernels/cpu/convolution.h"

#include <algorithm>

#include "kernels/cpu/product.h"

namespace quorate {
namespace {

// Elements of the patches that a thread gathers at a time: half of a usual
// second-level cache.
constexpr std::size_t kPatchElements = 1 << 16;
// Elements of the segments' products that are held at a time.
constexpr std::size_t kPartialElements = 1 << 20;
// Elements that one task of an addition takes.
constexpr std::size_t kGrain = 16384;

std::size_t ceil_div(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// For the short stretches of few channels a call would cost more than it does.
void copy(const float* from, std::ptrdiff_t count, float* to) {
  constexpr std::ptrdiff_t kShort = 16;
  if (count >= kShort) {
    std::copy_n(from, count, to);
    return;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = from[i];
}

// One row of taps that lie side by side in `line`, the first at column x.
void gather_forward(const Patches& p, const float* line, std::ptrdiff_t x,
                    float* to) {
  auto taps = static_cast<std::ptrdiff_t>(p.kernel_width);
  auto width = static_cast<std::ptrdiff_t>(p.from.width);
  auto channels = static_cast<std::ptrdiff_t>(p.from.channels);
  std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(-x, 0, taps);
  std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(width - x, begin, taps);
  std::fill(to, to + begin * channels, 0.0F);
  copy(line + (x + begin) * channels, (end - begin) * channels,
       to + begin * channels);
  std::fill(to + end * channels, to + taps * channels, 0.0F);
}

// The same for taps that go to the left.
void gather_backward(const Patches& p, const float* line, std::ptrdiff_t x,
                     float* to) {
  auto width = static_cast<std::ptrdiff_t>(p.from.width);
  auto channels = static_cast<std::ptrdiff_t>(p.from.channels);
  for (std::size_t kw = 0; kw < p.kernel_width; ++kw, --x, to += channels) {
    if (x >= 0 && x < width) {
      copy(line + x * channels, channels, to);
    } else {
      std::fill_n(to, channels, 0.0F);
    }
  }
}

// The patch of window (row, col) of an image.
void gather_patch(const Patches& p, const float* image, std::ptrdiff_t row,
                  std::ptrdiff_t col, float* to) {
  std::size_t line_size = p.from.width * p.from.channels;
  std::size_t taps_size = p.kernel_width * p.from.channels;
  for (std::size_t kh = 0; kh < p.kernel_height; ++kh, to += taps_size) {
    auto down = static_cast<std::ptrdiff_t>(kh);
    std::ptrdiff_t y = row + p.first + (p.backward ? -down : down);
    if (y < 0 || y >= static_cast<std::ptrdiff_t>(p.from.height)) {
      std::fill_n(to, taps_size, 0.0F);
      continue;
    }
    const float* line = image + static_cast<std::size_t>(y) * line_size;
    if (p.backward) {
      gather_backward(p, line, col + p.first, to);
    } else {
      gather_forward(p, line, col + p.first, to);
    }
  }
}

Patches input_patches(const ConvolutionSizes& n, const float* x) {
  return {.data = x,
          .from = n.in,
          .windows = n.out,
          .kernel_height = n.kernel_height,
          .kernel_width = n.kernel_width,
          .first = -static_cast<std::ptrdiff_t>(n.padding)};
}

Patches gradient_patches(const ConvolutionSizes& n, const float* dy) {
  return {.data = dy,
          .from = n.out,
          .windows = n.in,
          .kernel_height = n.kernel_height,
          .kernel_width = n.kernel_width,
          .first = static_cast<std::ptrdiff_t>(n.padding),
          .backward = true};
}

}  // namespace

void gather_patches(const Patches& patches, std::size_t first,
                    std::size_t count, float* to) {
  const ImageSizes& windows = patches.windows;
  std::size_t col = first % windows.width;
  std::size_t row = first / windows.width % windows.height;
  const float* image = patches.data + first / windows.width / windows.height *
                                          patches.from.image();
  for (std::size_t i = 0; i < count; ++i, to += patches.cols()) {
    gather_patch(patches, image, static_cast<std::ptrdiff_t>(row),
                 static_cast<std::ptrdiff_t>(col), to);
    if (++col < windows.width) continue;
    col = 0;
    if (++row < windows.height) continue;
    row = 0;
    image += patches.from.image();
  }
}

Convolver::Convolver(ThreadPool& pool, const MatmulKernels& matmul,
                     const ElementwiseKernels& elementwise,
                     const std::vector<AlignedFloats>& scratch)
    : pool_(pool),
      matmul_(matmul),
      elementwise_(elementwise),
      scratch_(scratch),
      patches_(pool.threads()) {}

void Convolver::multiply(const Patches& patches, const float* weights,
                         std::size_t cols, float* out) {
  using enum Transpose;
  std::size_t depth = patches.cols();
  std::size_t chunk = std::max<std::size_t>(1, kPatchElements / depth);
  std::size_t tasks = ceil_div(patches.rows(), chunk);
  pool_.run(tasks, [&](std::size_t task, unsigned thread) {
    std::size_t first = task * chunk;
    std::size_t count = std::min(chunk, patches.rows() - first);
    float* rows = patches_[thread].of(chunk * depth);
    gather_patches(patches, first, count, rows);
    matmul_.multiply(arrange_product({count, cols, depth}, rows, no, weights,
                                     no, out + first * cols, matmul_.lanes),
                     scratch_[thread].get());
  });
}

void Convolver::forward(const ConvolutionSizes& n, const float* x,
                        const float* w, float* y) {
  multiply(input_patches(n, x), w, n.weight_cols(), y);
}

// The sum goes over taps and then output channels, so the weights of each tap
// are transposed.
void Convolver::input_gradient(const ConvolutionSizes& n, const float* dy,
                               const float* w, float* dx) {
  std::size_t in = n.in.channels;
  std::size_t out = n.out.channels;
  float* weights = weights_.of(n.weight_rows() * n.weight_cols());
  for (std::size_t row = 0; row < n.weight_rows(); ++row) {
    float* to = weights + row / in * in * out + row % in;
    for (std::size_t co = 0; co < out; ++co) to[co * in] = w[row * out + co];
  }
  multiply(gradient_patches(n, dy), weights, in, dx);
}

void Convolver::multiply_segment(const Patches& patches, const float* dy,
                                 std::size_t cols, std::size_t index,
                                 unsigned thread, float* out) {
  using enum Transpose;
  std::size_t first = index * kSegment;
  std::size_t count = std::min(kSegment, patches.rows() - first);
  float* rows = patches_[thread].of(kSegment * patches.cols());
  gather_patches(patches, first, count, rows);
  matmul_.multiply(arrange_product({patches.cols(), cols, count}, rows, yes,
                                   dy + first * cols, no, out, matmul_.lanes),
                   scratch_[thread].get());
}

// The sum over the pixels of a whole batch is long and its result small, so
// threads share the segments, whose products are then added in their order.
void Convolver::weight_gradient(const ConvolutionSizes& n, const float* x,
                                const float* dy, float* dw) {
  Patches patches = input_patches(n, x);
  std::size_t size = n.weight_rows() * n.weight_cols();
  std::size_t segments = ceil_div(patches.rows(), kSegment);
  if (segments == 0) std::fill_n(dw, size, 0.0F);
  std::size_t most =
      std::max<std::size_t>(pool_.threads(), kPartialElements / size);
  float* partials = partials_.of(std::min(most, segments) * size);
  for (std::size_t first = 0; first < segments; first += most) {
    std::size_t count = std::min(most, segments - first);
    pool_.run(count, [&](std::size_t i, unsigned thread) {
      multiply_segment(patches, dy, n.weight_cols(), first + i, thread,
                       partials + i * size);
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
