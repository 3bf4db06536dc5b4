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

bool are_below(Indices indices, std::size_t bound) {
  return std::all_of(indices.begin(), indices.end(),
                     [&](std::uint32_t index) { return index < bound; });
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

void check_epilogue(const Epilogue& then, std::size_t rows, std::size_t cols) {
  check(!then.bias || then.bias->shape.count() == cols,
        "one bias per column expected");
  check(!then.addend || then.addend->shape.count() == rows * cols,
        "an addend of the product's size expected");
}

MatrixSizes column_sizes(const Shape& x, const Shape& per_column) {
  MatrixSizes sizes = matrix_sizes(x);
  check(per_column.count() == sizes.cols, "one value per column expected");
  return sizes;
}

MatrixSizes target_sizes(const Shape& logits, Indices targets) {
  MatrixSizes sizes = matrix_sizes(logits);
  check(targets.size() == sizes.rows, "one target per row expected");
  check(are_below(targets, sizes.cols), "a target beyond the columns");
  return sizes;
}

EmbeddingSizes embedding_sizes(const Shape& table, Indices ids,
                               const Shape& y) {
  MatrixSizes rows = matrix_sizes(table);
  MatrixSizes out = matrix_sizes(y);
  check(out.rows == ids.size() && out.cols == rows.cols,
        "one row of the table per id expected");
  check(are_below(ids, rows.rows), "an id beyond the table");
  return {rows.rows, ids.size(), rows.cols};
}

MatrixSizes cross_entropy_sizes(const Shape& logits, Indices targets,
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
  check(how.groups >= 1, "a convolution has groups");
  ConvolutionSizes n{image_sizes(x), image_sizes(y), w[0],      w[1],
                     how.stride,     how.padding,    how.groups};
  check(n.in.channels >= 1 && n.out.channels >= 1, "images have channels");
  check(n.in.channels == w[2] * how.groups && n.out.channels == w[3] &&
            n.out.channels % how.groups == 0 && n.out.images == n.in.images &&
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

AttentionSizes attention_sizes(const Shape& qkv, std::size_t heads,
                               const Shape& weights, const Shape& y) {
  check(qkv.rank() == 3 && y.rank() == 3 && weights.rank() == 4,
        "attention takes arrays of three sizes, weights of four");
  check(heads >= 1 && y[2] % heads == 0, "channels are shared by all heads");
  AttentionSizes n{y[0], y[1], heads, y[2] / heads};
  check(qkv == Shape{n.batch, n.length, 3 * n.channels()} &&
            weights == Shape{n.batch, heads, n.length, n.length},
        "attention sizes differ");
  return n;
}

PixelSizes pixel_sizes(const Shape& x) {
  check(x.rank() == 3, "images as pixels have three sizes");
  return {x[0], x[1], x[2]};
}

PixelSizes pixel_mean_sizes(const Shape& x, const Shape& means) {
  PixelSizes n = pixel_sizes(x);
  check(means == Shape{n.images, n.channels},
        "one mean per image and channel expected");
  return n;
}

PixelSizes normalization_sizes(const Shape& x, const Shape& y,
                               const Normalization& how, const Shape& mean,
                               const Shape& variance, const Shape& gamma,
                               const Shape& beta) {
  PixelSizes n = pixel_sizes(x);
  check(y == x, "normalized values of another shape");
  check(how.groups >= 1 && n.channels % how.groups == 0,
        "channels are shared by all groups");
  Shape statistics{n.images, how.groups};
  check(mean == statistics && variance == statistics,
        "statistics per image and group expected");
  check(gamma.count() == n.channels && beta.count() == n.channels,
        "gamma and beta per channel expected");
  return n;
}

std::size_t common_count(const Shape& x, const Shape& y) {
  check(x.count() == y.count(), "sizes differ");
  return x.count();
}

}  // namespace quorate
