// What the shapes of an operation's views must satisfy; used by every backend.
// A mismatch is a bug of the caller: these abort.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace quorate {

struct MatmulSizes {
  std::size_t rows = 0;   // M
  std::size_t cols = 0;   // N
  std::size_t depth = 0;  // K
};
MatmulSizes matmul_sizes(const ConstView& a, Transpose transpose_a,
                         const ConstView& b, Transpose transpose_b,
                         const View& c);

struct MatrixSizes {
  std::size_t rows = 0;
  std::size_t cols = 0;
};
MatrixSizes matrix_sizes(const Shape& shape);
// x (rows,cols) with one value per column.
MatrixSizes column_sizes(const Shape& x, const Shape& per_column);
// logits (rows,cols) with a target below cols per row.
MatrixSizes target_sizes(const Shape& logits,
                         std::span<const std::uint8_t> targets);
MatrixSizes cross_entropy_sizes(const Shape& logits,
                                std::span<const std::uint8_t> targets,
                                const Shape& losses, const Shape& dlogits);

// Of an array (N,H,W,C).
struct ImageSizes {
  std::size_t images = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;

  std::size_t pixels() const { return images * height * width; }
  // Elements of one image.
  std::size_t image() const { return height * width * channels; }
};
ImageSizes image_sizes(const Shape& shape);

struct ConvolutionSizes {
  ImageSizes in;
  ImageSizes out;
  std::size_t kernel_height = 0;
  std::size_t kernel_width = 0;
  std::size_t padding = 0;

  // Sizes of the weights as a matrix (rows,cols): taps times channels, and
  // channels of the output.
  std::size_t weight_rows() const {
    return kernel_height * kernel_width * in.channels;
  }
  std::size_t weight_cols() const { return out.channels; }
};
ConvolutionSizes convolution_sizes(const Shape& x, const Shape& w,
                                   const Convolution& how, const Shape& y);

struct PoolingSizes {
  ImageSizes in;
  ImageSizes out;
};
PoolingSizes pooling_sizes(const Shape& x, const Pooling& how, const Shape& y);

// The number of elements that both have.
std::size_t common_count(const Shape& x, const Shape& y);
inline std::size_t common_count(const Shape& x, const Shape& y,
                                const Shape& z) {
  check(common_count(x, y) == common_count(x, z), "sizes differ");
  return x.count();
}

}  // namespace quorate
