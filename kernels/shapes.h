// What the shapes of an operation's views must satisfy. Every backend calls
// these first in its operations, so that all refuse the same calls. A mismatch
// is a bug of the caller: these abort (check), naming the rule that is broken.
// No input from outside gets here unchecked: a model's sizes are bounded by
// workunits/models, and its layers make the shapes.
//
// Each returns the sizes under names, so that no kernel indexes a Shape. Cost:
// some comparisons, and one pass over the ids or targets where there are any.
//
// Rejected: an exception. Nobody could handle it: the same model would fail in
// the same way again.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace quorate {

// Of op(a) and op(b), that is, after transposing.
struct MatmulSizes {
  std::size_t rows = 0;   // M
  std::size_t cols = 0;   // N
  std::size_t depth = 0;  // K
};
// Also aborts if both are to be transposed: no layer needs that.
MatmulSizes matmul_sizes(const ConstView& a, Transpose transpose_a,
                         const ConstView& b, Transpose transpose_b,
                         const View& c);

// Aborts unless what it adds fits a product (rows,cols).
void check_epilogue(const Epilogue& then, std::size_t rows, std::size_t cols);

// Rows and columns as stored.
struct MatrixSizes {
  std::size_t rows = 0;
  std::size_t cols = 0;
};
// Aborts unless the shape has two sizes; either may be 0.
MatrixSizes matrix_sizes(const Shape& shape);
// x (rows,cols) with one value per column, of any shape.
MatrixSizes column_sizes(const Shape& x, const Shape& per_column);
// logits (rows,cols) with a target below cols per row.
MatrixSizes target_sizes(const Shape& logits, Indices targets);
// losses has one value per row; dlogits is shaped as logits.
MatrixSizes cross_entropy_sizes(const Shape& logits, Indices targets,
                                const Shape& losses, const Shape& dlogits);

struct EmbeddingSizes {
  std::size_t symbols = 0;   // rows of the table
  std::size_t rows = 0;      // ids
  std::size_t channels = 0;  // of each
};
// table (V,C), y (rows,C), one id below V per row.
EmbeddingSizes embedding_sizes(const Shape& table, Indices ids, const Shape& y);

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
// Aborts unless the shape has four sizes; any of them may be 0.
ImageSizes image_sizes(const Shape& shape);

// x (N,H,W,C), w (KH,KW,C/groups,O), y (N,OH,OW,O). Used for all three passes:
// `in` is always x's, `out` always y's.
struct ConvolutionSizes {
  ImageSizes in;
  ImageSizes out;
  std::size_t kernel_height = 0;
  std::size_t kernel_width = 0;
  std::size_t stride = 1;
  std::size_t padding = 0;
  std::size_t groups = 1;

  // Channels of one group.
  // groups divides both: convolution_sizes() checked it.
  std::size_t in_channels() const { return in.channels / groups; }
  std::size_t out_channels() const { return out.channels / groups; }
  // Sizes of the weights as a matrix (rows,cols): taps times the channels of a
  // group, and channels of the output.
  std::size_t weight_rows() const {
    return kernel_height * kernel_width * in_channels();
  }
  std::size_t weight_cols() const { return out.channels; }
};
ConvolutionSizes convolution_sizes(const Shape& x, const Shape& w,
                                   const Convolution& how, const Shape& y);

// x (N,H,W,C), y (N,OH,OW,C).
struct PoolingSizes {
  ImageSizes in;
  ImageSizes out;
};
// Also aborts for a window above kMaxPoolingSize or with too much padding.
PoolingSizes pooling_sizes(const Shape& x, const Pooling& how, const Shape& y);

struct AttentionSizes {
  std::size_t batch = 0;
  std::size_t length = 0;  // T, positions
  std::size_t heads = 0;
  std::size_t head_size = 0;

  std::size_t channels() const { return heads * head_size; }
};
// qkv (B,T,3C), weights (B,heads,T,T), y (B,T,C); heads divides C.
AttentionSizes attention_sizes(const Shape& qkv, std::size_t heads,
                               const Shape& weights, const Shape& y);

// Of an array (N,P,C).
struct PixelSizes {
  std::size_t images = 0;
  std::size_t pixels = 0;  // of one image
  std::size_t channels = 0;

  std::size_t image() const { return pixels * channels; }
};
// Aborts unless x has three sizes.
PixelSizes pixel_sizes(const Shape& x);
// x (N,P,C) with one value per image and channel (N,C).
PixelSizes pixel_mean_sizes(const Shape& x, const Shape& means);
// x, y (N,P,C), statistics (N,groups), gamma and beta (C).
PixelSizes normalization_sizes(const Shape& x, const Shape& y,
                               const Normalization& how, const Shape& mean,
                               const Shape& variance, const Shape& gamma,
                               const Shape& beta);

// The number of elements that both have. Their shapes may differ otherwise:
// element-wise operations see flat arrays.
std::size_t common_count(const Shape& x, const Shape& y);
inline std::size_t common_count(const Shape& x, const Shape& y,
                                const Shape& z) {
  check(common_count(x, y) == common_count(x, z), "sizes differ");
  return x.count();
}

}  // namespace quorate
