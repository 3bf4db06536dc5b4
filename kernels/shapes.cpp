#include "kernels/shapes.h"

#include <algorithm>

#include "base/error.h"

namespace quorate {

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

std::size_t common_count(const Shape& x, const Shape& y) {
  check(x.count() == y.count(), "sizes differ");
  return x.count();
}

}  // namespace quorate
