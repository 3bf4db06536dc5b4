// One layer of a network as data: what it does and the shapes around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workunits/sample_shape.h"

namespace quorate {

enum class LayerKind { linear, conv2d, relu, max_pool2d, flatten };

// in, out: of one sample. The windows of conv2d and max_pool2d are square.
struct LayerSpec {
  LayerKind kind = LayerKind::relu;
  SampleShape in{};
  SampleShape out{};
  std::uint32_t window = 0;
  std::uint32_t stride = 1;
  std::uint32_t padding = 0;
};

// One parameter tensor, named as PyTorch does.
struct TensorSpec {
  std::string name;
  std::vector<std::uint32_t> shape;
  // Initial values are uniform in [-bound, bound): 1 / sqrt(fan in).
  float bound = 0.0F;

  std::uint64_t size() const;  // elements
};

bool has_parameters(const LayerSpec& layer);
// Weight and bias, named after the layer's place in a torch.nn.Sequential:
// linear [out, in], conv2d [window, window, in, out], bias [out]; of other
// kinds, none.
std::vector<TensorSpec> tensors_of(const LayerSpec& layer, std::size_t place);
// Floating-point operations of one sample going forward, a product and its sum
// counting as two; of layers without parameters, 0.
double forward_operations(const LayerSpec& layer);

// Layers one after another, each taking what the one before gives.
class LayerChain {
 public:
  explicit LayerChain(SampleShape input) : out_(input) {}

  void linear(std::uint32_t outputs);
  // Stride 1. The input with its padding must hold a window.
  void conv2d(std::uint32_t channels, std::uint32_t window,
              std::uint32_t padding);
  void relu();
  // Windows side by side; pixels beyond the last whole one are left out.
  void max_pool2d(std::uint32_t window);
  // From pixels to a mere vector; rows, columns, channels fastest.
  void flatten();

  const std::vector<LayerSpec>& layers() const { return layers_; }

 private:
  void add(LayerSpec layer);

  SampleShape out_;
  std::vector<LayerSpec> layers_;
};

}  // namespace quorate
