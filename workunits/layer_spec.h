// One layer of a network as data: what it does and the shapes around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workunits/sample_shape.h"

namespace quorate {

enum class LayerKind {
  linear,  // of the channels of every pixel
  conv2d,
  activation,
  max_pool2d,
  average_pool2d,
  mean_pixels,  // the average of all pixels
  flatten,      // pixels to a mere vector; rows, columns, channels fastest
  normalize,
  dropout,
  embedding,    // tokens to channels, plus a learned vector per position
  attention,    // causal, of queries, keys and values side by side
  tied_linear,  // with the table of the embedding as weight, no bias
  residual,     // branch(x) + shortcut(x), or + x if there is no shortcut
};

enum class Activation { relu, gelu, silu, tanh, sigmoid };

// What one mean and variance are taken over: the channels of a group in all
// pixels, all channels of one pixel.
enum class Norm { group, layer };

// in, out: of one sample. Windows are square.
struct LayerSpec {
  LayerKind kind = LayerKind::flatten;
  SampleShape in{};
  SampleShape out{};
  std::uint32_t window = 0;   // conv2d, pooling
  std::uint32_t stride = 1;   // the same
  std::uint32_t padding = 0;  // the same
  std::uint32_t groups = 1;   // conv2d, normalize
  bool bias = true;           // linear, conv2d
  Activation activation = Activation::relu;
  Norm norm = Norm::group;
  std::uint32_t heads = 0;    // attention
  std::uint32_t symbols = 0;  // embedding
  float rate = 0.0F;          // dropout: the share that is dropped
  std::vector<LayerSpec> branch{};
  std::vector<LayerSpec> shortcut{};
};

// Most pixels of a window's side, and of its stride: what kernels take.
inline constexpr std::uint32_t kMaxWindow = 16;

// Added to every variance: 1e-5.
inline constexpr std::uint32_t kNormEpsilon = 0x3727c5ac;

// One parameter tensor, named as PyTorch does.
struct TensorSpec {
  std::string name;
  std::vector<std::uint32_t> shape;
  // Initial values are uniform in [-bound, bound), 1 / sqrt(fan in); without a
  // bound they are all `constant`.
  float bound = 0.0F;
  float constant = 0.0F;

  std::uint64_t size() const;  // elements
};

// The parameters of a layer in declared order, named after its place in a
// torch.nn.Sequential: linear [out, in] and [out], conv2d
// [window, window, in / groups, out] and [out], normalize [channels] twice,
// embedding [symbols, channels] and [positions, channels]. Those of a residual
// are its branch's, then its shortcut's, as place.branch.0 and so on.
std::vector<TensorSpec> tensors_of(const LayerSpec& layer,
                                   const std::string& place);
// Of layers one after another. prefix: of their places, "" or ending in ".".
std::vector<TensorSpec> tensors_of(const std::vector<LayerSpec>& layers,
                                   const std::string& prefix = "");
// Floating-point operations of the products of one sample going forward, a
// product and its sum counting as two.
double forward_operations(const LayerSpec& layer);

// Layers one after another, each taking what the one before gives. Sizes are
// checked where the chain is read from outside (fault_of_layers).
class LayerChain {
 public:
  explicit LayerChain(SampleShape input) : out_(input) {}

  struct Conv2d {
    std::uint32_t channels = 0;
    std::uint32_t window = 1;
    std::uint32_t stride = 1;
    std::uint32_t padding = 0;
    std::uint32_t groups = 1;
    bool bias = true;
  };
  struct Windows {
    std::uint32_t window = 2;
    std::uint32_t stride = 2;
    std::uint32_t padding = 0;
  };

  void linear(std::uint32_t outputs, bool bias = true);
  void conv2d(const Conv2d& how);
  void activation(Activation function);
  void max_pool2d(const Windows& how);
  void average_pool2d(const Windows& how);
  void mean_pixels();
  void flatten();
  void normalize(Norm norm, std::uint32_t groups);
  void dropout(float rate);
  void embedding(std::uint32_t symbols, std::uint32_t channels);
  // From three times as many channels.
  void attention(std::uint32_t heads);
  void tied_linear(std::uint32_t symbols);
  // Both begin where this chain ends: made with next().
  void residual(const LayerChain& branch, const LayerChain& shortcut);

  // An empty chain that goes on where this one ends.
  LayerChain next() const { return LayerChain(out_); }
  const SampleShape& out() const { return out_; }
  const std::vector<LayerSpec>& layers() const { return layers_; }

 private:
  void add(LayerSpec layer);

  SampleShape out_;
  std::vector<LayerSpec> layers_;
};

// Empty if every layer fits the one before and its own sizes, else what is
// wrong, naming the place: "layer 3.branch.0: ...".
std::string fault_of_layers(const std::vector<LayerSpec>& layers,
                            const std::string& prefix = "");

}  // namespace quorate
