// What the operations of a device take besides arrays. Numbers are used by bit
// pattern, as shipped. docs/numerics.md, sections 3, 4, 6 and 7.
//
// Plain values: a layer or the trainer fills them in from the workunit, and
// every backend takes them as they are. Nothing here is computed on a client
// that the project could ship instead, since a rounding would then be the
// client's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/tensor.h"

namespace quorate {

// Functions of one element.
// The order is part of the interface: CPU tables (cpu/vector/kernels.h) and GPU
// kernels (gpu/device/arguments.h) are indexed by it.
enum class Function {
  exp,
  log,
  tanh,
  sigmoid,
  erf,
  rsqrt,
  relu,
  gelu,  // with erf, not its approximation by tanh
  silu,
};
inline constexpr std::size_t kFunctionCount = 9;

// Whether a matrix is stored the other way round: yes means that the rows in
// memory are the columns of the product.
enum class Transpose { no, yes };
// Whether a result replaces what the array held, or is added to it.
enum class Accumulate { no, yes };

// What happens to each element of a product before it is stored, in this
// order.
// Done in the same pass over memory as the product: that saves a read and a
// write of the whole result per layer.
struct Epilogue {
  std::optional<ConstView> bias{};    // (columns): added
  std::optional<ConstView> addend{};  // of the product's shape, or it: added
  bool relu = false;
};

// How the windows of a convolution move over an image, alike in both
// directions.
struct Convolution {
  // At least 1, also of a pooling; both are shared by rows and columns.
  std::size_t stride = 1;
  std::size_t padding = 0;  // zeros on every side of the image
  std::size_t groups = 1;   // of channels, each a convolution of its own
};

// Square windows of at most kMaxPoolingSize, and how they move. Taps beyond the
// image do not count; padding is at most half the size.
inline constexpr std::size_t kMaxPoolingSize = 16;
struct Pooling {
  std::size_t size = 2;
  std::size_t stride = 2;
  std::size_t padding = 0;
};

// Of arrays (N,P,C): N images of P pixels with C channels, in groups of
// channels that lie side by side. Group norm as it is; one group and P = 1 is
// layer norm, N = 1 and C groups batch norm.
struct Normalization {
  std::size_t groups = 1;
  float epsilon = 0.0F;
  bool relu = false;  // of the result
};

// Which elements a dropout keeps: where the random word of the element is at
// least `threshold`. What is kept is multiplied by `scale`.
struct Dropout {
  // seed, stream and step name the random words (docs/numerics.md, section 8):
  // the unit's seed, the layer, the step within the unit.
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::uint32_t step = 0;
  // An element is dropped with probability threshold / 2^32.
  std::uint32_t threshold = 0;
  float scale = 1.0F;
};

// The step size and its terms, as in section 7. weight_decay is L2: it is part
// of the gradient. 0 means none, and the term is left out, not multiplied by 0.
struct SgdStep {
  float learning_rate = 0.0F;
  float momentum = 0.0F;
  float weight_decay = 0.0F;
};

// weight_decay here is decoupled (Loshchilov and Hutter 2019): it acts on the
// weight, not on the moments. one_minus_beta1 and the corrections are shipped
// as bit patterns, because computing them from beta1 would round on the client.
struct AdamWStep {
  float learning_rate = 0.0F;
  float beta1 = 0.0F;
  float one_minus_beta1 = 0.0F;
  float beta2 = 0.0F;
  float one_minus_beta2 = 0.0F;
  float correction1 = 1.0F;  // 1 / (1 - beta1^t)
  float correction2 = 1.0F;  // 1 / (1 - beta2^t)
  float epsilon = 0.0F;
  float weight_decay = 0.0F;
};

}  // namespace quorate
