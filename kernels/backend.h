// The operations of a device. Each is an exact sequence of binary32 operations
// in a fixed order (docs/numerics.md): the same bits on every backend, whatever
// the vector width, tile size or number of threads.
//
// Shapes that do not fit are bugs of the caller and abort. Views of one call
// must not overlap unless an operation says so. Operations may run after their
// call returns; those marked "waits" return when all earlier ones are done. A
// backend is used by one thread at a time.
//
// Rejected: an interface per model ("evaluate this network"), which every
// backend would have to write again for every layer, forward and backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/tensor.h"

namespace quorate {

// name: what make_backend takes, and what results are labelled with.
struct DeviceInfo {
  std::string name;
  std::string description;
};

enum class Transpose { no, yes };
enum class Accumulate { no, yes };

// Used by bit pattern, as shipped.
struct SgdStep {
  float learning_rate = 0.0F;
  float momentum = 0.0F;
  float weight_decay = 0.0F;
};

// How the windows of a convolution move over an image, alike in both
// directions. So far: stride 1, one group.
struct Convolution {
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

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo device() const = 0;

  // Room for `count` elements, all +0. Throws io if there is not enough.
  virtual std::unique_ptr<Memory> allocate(std::size_t count) = 0;
  Tensor tensor(Shape shape) { return {allocate(shape.count()), shape}; }

  // to.shape.count() values; `from` may be changed after the call.
  virtual void upload(View to, std::span<const float> from) = 0;
  // to[i] = mul(float(from[i]), 0x3b808081): bytes of an image to [0, 1].
  virtual void upload_pixels(View to, std::span<const std::uint8_t> from) = 0;
  // Waits.
  virtual void download(ConstView from, std::span<float> to) = 0;

  // c = op(a) op(b), or c + that: op(a) (M,K), op(b) (K,N), c (M,N). Sums over
  // k in segments of 256, in order (section 3). Not both may be transposed.
  virtual void matmul(ConstView a, Transpose transpose_a, ConstView b,
                      Transpose transpose_b, View c, Accumulate accumulate) = 0;

  // Images are (N,H,W,C), weights (KH,KW,C,O). Section 4.
  // y (N,OH,OW,O), OH = H + 2 padding - KH + 1 at stride 1; so OW.
  virtual void conv2d(ConstView x, ConstView w, const Convolution& how,
                      View y) = 0;
  // dx, shaped as x, from dy, shaped as y.
  virtual void conv2d_input_gradient(ConstView dy, ConstView w,
                                     const Convolution& how, View dx) = 0;
  // dw, shaped as w.
  virtual void conv2d_weight_gradient(ConstView x, ConstView dy,
                                      const Convolution& how, View dw) = 0;

  // x (N,H,W,C) -> y (N,OH,OW,C), OH = (H + 2 padding - size) / stride + 1
  // rounded down; so OW. Section 7, "max pooling".
  virtual void max_pool2d(ConstView x, const Pooling& how, View y) = 0;
  // dx, shaped as x, from x and dy, shaped as y.
  virtual void max_pool2d_gradient(ConstView x, ConstView dy,
                                   const Pooling& how, View dx) = 0;

  // x (rows,cols) += bias (cols).
  virtual void add_bias(View x, ConstView bias) = 0;
  // y (cols) = the sum of the rows of x (rows,cols), in R2 order (section 5).
  virtual void sum_rows(ConstView x, View y) = 0;
  // The sum of all elements in R1 order (section 5). Waits.
  virtual float sum(ConstView x) = 0;

  // Element by element; y, dx may be any of the inputs.
  virtual void relu(ConstView x, View y) = 0;
  // dx = dy where x > 0, else +0.
  virtual void relu_gradient(ConstView x, ConstView dy, View dx) = 0;
  virtual void exp(ConstView x, View y) = 0;
  virtual void log(ConstView x, View y) = 0;
  // y = a - b.
  virtual void subtract(ConstView a, ConstView b, View y) = 0;

  // For each row of logits (rows,cols) and its target in [0,cols):
  // losses (rows) = -log softmax(row)[target], and
  // dlogits (rows,cols) = (softmax(row) - one-hot(target)) * scale.
  // Section 7, "softmax row" and "cross entropy".
  virtual void softmax_cross_entropy(ConstView logits,
                                     std::span<const std::uint8_t> targets,
                                     float scale, View losses,
                                     View dlogits) = 0;
  // How many rows have their greatest element, the first of equals, at the
  // target. Waits.
  virtual std::size_t count_correct(ConstView logits,
                                    std::span<const std::uint8_t> targets) = 0;

  // One step of SGD on weights w with gradients g and velocities v, all of one
  // shape. Section 7, "SGD".
  virtual void sgd(View w, ConstView g, View v, const SgdStep& step) = 0;
  // True if no element is NaN or infinite. Waits.
  virtual bool all_finite(ConstView x) = 0;
};

}  // namespace quorate
