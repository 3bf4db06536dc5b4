#include "kernels/shapes.h"

#include <algorithm>

#include "base/error.h"

namespace quorate {
namespace {

// Windows of `size` that fit in `in` pixels and their padding.
std::size_t window_count(std::size_t in, std::size_t size, std::size_t stride,
                         std::size_t padding) {
  check(in >= 1, "an image has pixels");
  check(size >= 1 && stride >= 1, "a window has a size and a stride");
  check(in + 2 * padding >= size, "a window larger than its image");
  return (in + 2 * padding - size) / stride + 1;
}

}  // namespace

MatrixSizes matrix_sizes(const Shape& shape) {
  check(shape.rank() == 2, "a matrix has two sizes");
  return {shape[0], shape[1]};
}

MatmulSizes matmul_sizes(const ConstView& a, Transpose transpose_a,
                         const ConstView& b, Transpose transpose_b,
                         const View& c) {
  check(transpose_a == Transpose::no || transpose_b == Transpose::no,
        "matmul of two transposed matrices is not offered");
  MatrixSizes op_a = matrix_sizes(a.shape);
  MatrixSizes op_b = matrix_sizes(b.shape);
  MatrixSizes out = matrix_sizes(c.shape);
  if (transpose_a == Transpose::yes) std::swap(op_a.rows, op_a.cols);
  if (transpose_b == Transpose::yes) std::swap(op_b.rows, op_b.cols);
  check(
      op_a.cols == op_b.rows && out.rows == op_a.rows && out.cols == op_b.cols,
      "matmul sizes differ");
  return {out.rows, out.cols, op_a.cols};
}

MatrixSizes column_sizes(const Shape& x, const Shape& per_column) {
  MatrixSizes sizes = matrix_sizes(x);
  check(per_column.count() == sizes.cols, "one value per column expected");
  return sizes;
}

MatrixSizes target_sizes(const Shape& logits,
                         std::span<const std::uint8_t> targets) {
  MatrixSizes sizes = matrix_sizes(logits);
  check(targets.size() == sizes.rows, "one target per row expected");
  check(std::all_of(targets.begin(), targets.end(),
                    [&](std::uint8_t target) { return target < sizes.cols; }),
        "a target beyond the columns");
  return sizes;
}

MatrixSizes cross_entropy_sizes(const Shape& logits,
                                std::span<const std::uint8_t> targets,
                                const Shape& losses, const Shape& dlogits) {
  MatrixSizes sizes = target_sizes(logits, targets);
  check(losses.count() == sizes.rows, "one loss per row expected");
  check(dlogits == logits, "gradient of another shape");
  return sizes;
}

ImageSizes image_sizes(const Shape& shape) {
  check(shape.rank() == 4, "images have four sizes");
  return {shape[0], shape[1], shape[2], shape[3]};
}

ConvolutionSizes convolution_sizes(const Shape& x, const Shape& w,
                                   const Convolution& how, const Shape& y) {
  check(w.rank() == 4, "weights of a convolution have four sizes");
  check(how.stride == 1 && how.groups == 1,
        "strides and groups of convolutions are not offered");
  ConvolutionSizes n{image_sizes(x), image_sizes(y), w[0], w[1], how.padding};
  check(n.in.channels >= 1 && n.out.channels >= 1, "images have channels");
  check(n.in.channels == w[2] && n.out.channels == w[3] &&
            n.out.images == n.in.images &&
            n.out.height == window_count(n.in.height, n.kernel_height,
                                         how.stride, how.padding) &&
            n.out.width == window_count(n.in.width, n.kernel_width, how.stride,
                                        how.padding),
        "convolution sizes differ");
  return n;
}

PoolingSizes pooling_sizes(const Shape& x, const Pooling& how, const Shape& y) {
  check(how.size <= kMaxPoolingSize && 2 * how.padding <= how.size,
        "a window of pooling too large, or beyond the image");
  PoolingSizes n{image_sizes(x), image_sizes(y)};
  check(n.out.images == n.in.images && n.out.channels == n.in.channels &&
            n.out.height ==
                window_count(n.in.height, how.size, how.stride, how.padding) &&
            n.out.width ==
                window_count(n.in.width, how.size, how.stride, how.padding),
        "pooling sizes differ");
  return n;
}

std::size_t common_count(const Shape& x, const Shape& y) {
  check(x.count() == y.count(), "sizes differ");
  return x.count();
}

}  // namespace quorate
