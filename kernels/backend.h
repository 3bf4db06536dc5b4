// The operations of a device, and the header to open first in kernels/. Longer
// than other headers, because it is the one list of all operations.
//
// This folder computes and knows nothing else: no network, no workunit, no file
// of ours. It includes base/ only. Its rooms: reference/ (plain loops, the
// oracle), cpu/ with cpu/vector/ (Highway), gpu/ with gpu/device/ (one text of
// kernels for OpenCL and CUDA), opencl/, cuda/, and devices/, which lists them
// all. Only a worker process links it.
//
// Each operation is an exact sequence of binary32 operations in a fixed order
// (docs/numerics.md): the same bits on every backend, whatever the vector
// width, tile size or number of threads. A new backend is right when it gives
// the bits of kernels/reference; tests/kernels compares the two for every
// operation.
//
// Shapes that do not fit are bugs of the caller and abort (kernels/shapes.h).
// Views of one call must not overlap unless an operation says so, and all must
// come from this backend. Operations may run after their call returns, in the
// order of the calls; those marked "waits" return when all earlier ones are
// done. Host spans may be changed or freed as soon as a call returns.
//
// A backend is used by one thread at a time, which need not always be the same
// one. A device that fails, or vanishes, makes any operation throw io; the
// backend is of no use then. A GPU backend also throws unsupported for an array
// of 2^31 or more along one direction.
//
// Rejected: an interface per model ("evaluate this network"), which every
// backend would have to write again for every layer, forward and backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/operations.h"
#include "kernels/tensor.h"

namespace quorate {

// name: what make_backend takes, and what results are labelled with.
struct DeviceInfo {
  std::string name;
  std::string description;
  // A real one; OpenCL on a CPU is none.
  bool is_gpu = false;
  // A GPU as its maker calls it, the same through CUDA and OpenCL.
  std::string model = {};
  std::string driver = {};  // of a GPU: its version
};

// Rows of a table, classes, tokens: one per row of what they belong to.
using Indices = std::span<const std::uint32_t>;

// Owns the device's queue, threads and scratch memory, not the tensors. Destroy
// all tensors of a backend before the backend itself.
class Backend {
 public:
  virtual ~Backend() = default;

  // Cheap: asks the device nothing.
  virtual DeviceInfo device() const = 0;

  // Room for `count` elements, all +0; 0 is allowed. The caller owns it and
  // frees it by destroying it, even while operations that use it are still to
  // run. Throws io if there is not enough.
  virtual std::unique_ptr<Memory> allocate(std::size_t count) = 0;
  // allocate() with a shape on it.
  Tensor tensor(Shape shape) { return {allocate(shape.count()), shape}; }

  // to.shape.count() values; `from` may be changed after the call.
  virtual void upload(View to, std::span<const float> from) = 0;
  // to[i] = mul(float(from[i]), 0x3b808081): bytes of an image to [0, 1].
  virtual void upload_pixels(View to, std::span<const std::uint8_t> from) = 0;
  // Waits. `to` must have from.shape.count() elements.
  virtual void download(ConstView from, std::span<float> to) = 0;

  // --- Products (sections 3 and 4).

  // c = op(a) op(b), then the epilogue: op(a) (M,K), op(b) (K,N), c (M,N). Sums
  // over k run in segments of 256, in order. Not both may be transposed. K = 0
  // gives +0, and the epilogue is still done. then.addend may be c itself: that
  // accumulates.
  virtual void matmul(ConstView a, Transpose transpose_a, ConstView b,
                      Transpose transpose_b, View c,
                      const Epilogue& then = {}) = 0;

  // Images are (N,H,W,C), weights (KH,KW,C/groups,O).
  // y (N,OH,OW,O), OH = (H + 2 padding - KH) / stride + 1 rounded down; so OW.
  virtual void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
                      const Epilogue& then = {}) = 0;
  // dx, shaped as x, from dy, shaped as y. A pixel that no window saw gets +0.
  virtual void conv2d_input_gradient(ConstView dy, ConstView w,
                                     const Convolution& how, View dx) = 0;
  // dw, shaped as w. It overwrites dw: a caller that accumulates adds
  // afterwards.
  virtual void conv2d_weight_gradient(ConstView x, ConstView dy,
                                      const Convolution& how, View dw) = 0;

  // Causal self-attention. qkv (B,T,3C): for each position its query, key and
  // value side by side, each of `heads` heads of C/heads channels; y (B,T,C).
  // scale multiplies the scores (1 / sqrt(head size), as shipped). weights
  // (B,heads,T,T) is written: the softmax of the scores, +0 above the diagonal.
  // The caller keeps it for the backward pass; its size is what limits T.
  virtual void attention(ConstView qkv, std::size_t heads, float scale,
                         View weights, View y) = 0;
  // dqkv, shaped as qkv, from the weights that attention() wrote and from dy,
  // shaped as y. Takes scratch memory besides: T^2 elements for each thread of
  // a CPU; on a GPU heads T^2 for each of as many sequences as fit 256 MiB.
  virtual void attention_gradient(ConstView qkv, ConstView weights,
                                  ConstView dy, std::size_t heads, float scale,
                                  View dqkv) = 0;

  // --- Windows and pixels (section 7).

  // x (N,H,W,C) -> y (N,OH,OW,C), OH = (H + 2 padding - size) / stride + 1
  // rounded down; so OW.
  virtual void max_pool2d(ConstView x, const Pooling& how, View y) = 0;
  // dx, shaped as x, from x and dy, shaped as y: each dy goes to the element
  // that won its window. Windows that overlap add, in order of the outputs.
  virtual void max_pool2d_gradient(ConstView x, ConstView dy,
                                   const Pooling& how, View dx) = 0;
  // The sum over a window's taps inside the image, times `reciprocal`, which is
  // the shipped 1 / size^2. So taps in the padding count as zeros.
  virtual void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                              View y) = 0;
  virtual void average_pool2d_gradient(ConstView dy, const Pooling& how,
                                       float reciprocal, View dx) = 0;
  // x (N,P,C) -> y (N,C): the sum over the pixels times `reciprocal`, 1 / P.
  virtual void mean_pixels(ConstView x, float reciprocal, View y) = 0;
  // dx (N,P,C) = dy (N,C) times `reciprocal` at every pixel.
  virtual void mean_pixels_gradient(ConstView dy, float reciprocal,
                                    View dx) = 0;

  // --- Normalization (section 7). x, y (N,P,C), gamma, beta (C).

  // mean and variance (N,groups) are written, for each group of each image, and
  // normalize_gradient() wants them back. The variance is divided by the number
  // of elements, not by one less.
  virtual void normalize(ConstView x, ConstView gamma, ConstView beta,
                         const Normalization& how, View y, View mean,
                         View variance) = 0;
  // The same with statistics from elsewhere: a batch norm in an evaluation
  // passes its running mean and variance.
  virtual void normalize_with(ConstView x, ConstView mean, ConstView variance,
                              ConstView gamma, ConstView beta,
                              const Normalization& how, View y) = 0;
  // From x, the statistics that normalize() found, and dy: dx, shaped as x, and
  // dgamma, dbeta (C). dx may be dy. The normalized values are computed again
  // from x, so the forward pass need not keep them.
  virtual void normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                                  ConstView variance, ConstView gamma,
                                  ConstView beta, const Normalization& how,
                                  View dx, View dgamma, View dbeta) = 0;

  // --- Rows and tables (sections 5 and 7).

  // x (rows,cols) += bias (cols).
  virtual void add_bias(View x, ConstView bias) = 0;
  // y (cols) = the sum of the rows of x (rows,cols), in R2 order.
  virtual void sum_rows(ConstView x, View y) = 0;
  // The sum of all elements in R1 order; +0 for none. Waits.
  virtual float sum(ConstView x) = 0;
  // sums[i] = R1 dot(x[i], x[i]); as many sums as arrays. Waits once for all of
  // them: a GPU would otherwise pay a round trip per parameter tensor.
  virtual void sums_of_squares(std::span<const ConstView> x,
                               std::span<float> sums) = 0;
  // y (rows,C): row ids[r] of table (V,C). Every id must be below V, or the
  // call aborts: whoever reads ids from a file checks them before.
  virtual void embedding(ConstView table, Indices ids, View y) = 0;
  // dtable (V,C): for each row the sum of the rows of dy (rows,C) that came
  // from it, +0 for a row that was not used. With Accumulate::yes this is added
  // to what dtable held (the table of tied weights has a gradient already).
  virtual void embedding_gradient(Indices ids, ConstView dy, View dtable,
                                  Accumulate accumulate) = 0;
  // For each row of logits (rows,cols) and its target in [0,cols):
  // losses (rows) = -log softmax(row)[target], and
  // dlogits (rows,cols) = (softmax(row) - one-hot(target)) * scale.
  // dlogits may be logits.
  virtual void softmax_cross_entropy(ConstView logits, Indices targets,
                                     float scale, View losses,
                                     View dlogits) = 0;
  // How many rows have their greatest element at the target. The first of
  // equals counts, and a NaN never exceeds anything. Waits.
  virtual std::size_t count_correct(ConstView logits, Indices targets) = 0;

  // --- Element by element; outputs may be inputs.

  // y = f(x).
  virtual void map(Function f, ConstView x, View y) = 0;
  // dx = dy f'(x), for tanh, sigmoid, relu, gelu and silu; others abort. Takes
  // x, not y, so that a layer keeps one array only.
  virtual void map_gradient(Function f, ConstView x, ConstView dy, View dx) = 0;
  // y = a + b.
  virtual void add(ConstView a, ConstView b, View y) = 0;
  // y = a - b.
  virtual void subtract(ConstView a, ConstView b, View y) = 0;
  // y = x factor.
  virtual void scale(ConstView x, float factor, View y) = 0;
  // y = fma(rate, sub(mul(x, factor), y), y): running statistics.
  virtual void move_towards(ConstView x, float factor, float rate, View y) = 0;
  // Forward of x and backward of dy alike: the same `how` drops the same
  // elements, so no mask is stored.
  virtual void dropout(ConstView x, const Dropout& how, View y) = 0;

  // --- Optimisers (section 7).

  // One step on weights w with gradients g, all arrays of one size; w and v are
  // changed. v: velocities, +0 before the first step of a unit. If momentum is
  // 0 they are written but not read.
  virtual void sgd(View w, ConstView g, View v, const SgdStep& step) = 0;
  // m, v: first and second moments, +0 before the first step; all changed. The
  // corrections for step t are in `step`, computed by the caller.
  virtual void adamw(View w, ConstView g, View m, View v,
                     const AdamWStep& step) = 0;
  // True if no element is NaN or infinite. Waits.
  virtual bool all_finite(ConstView x) = 0;
};

}  // namespace quorate
