// One layer of a network as data: what it does and the shapes around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workunits/models/sample_shape.h"

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
// pixels, all channels of one pixel, one channel in all pixels of all samples.
enum class Norm { group, layer, batch };

// in, out: of one sample. Windows are square.
struct LayerSpec {
  LayerKind kind = LayerKind::flatten;
  SampleShape in{};
  SampleShape out{};
  std::uint32_t window = 0;   // conv2d, pooling
  std::uint32_t stride = 1;   // the same
  std::uint32_t padding = 0;  // the same
  std::uint32_t groups = 1;   // conv2d, normalize: of batch, the channels
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
// What of a batch goes into the running statistics: 0.1.
inline constexpr std::uint32_t kStatisticsRate = 0x3dcccccd;

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
  void group_norm(std::uint32_t groups);
  void layer_norm();
  void batch_norm();
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
  void normalize(Norm norm, std::uint32_t groups);

  SampleShape out_;
  std::vector<LayerSpec> layers_;
};

// Empty if every layer fits the one before and its own sizes, else what is
// wrong, naming the place: "layer 3.branch.0: ...".
std::string fault_of_layers(const std::vector<LayerSpec>& layers,
                            const std::string& prefix = "");

// The same of layers without fault through which `batch` samples are to pass at
// a time in training: a batch norm needs two values of each channel.
std::string fault_of_batch(const std::vector<LayerSpec>& layers,
                           std::uint32_t batch, const std::string& prefix = "");

}  // namespace quorate
