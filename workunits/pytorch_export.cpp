#include "workunits/pytorch_export.h"

#include <array>
#include <cstddef>
#include <vector>

#include "workunits/safetensors.h"

namespace quorate {
namespace {

using Extents = std::array<std::size_t, 4>;

// The elements of an array of `extents` with its axes in another order: axis i
// of the result is axis axes[i] of `from`.
std::vector<float> reordered(std::span<const float> from,
                             const Extents& extents, const Extents& axes) {
  Extents strides{};
  std::size_t stride = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  auto size = [&](std::size_t axis) { return extents[axes[axis]]; };
  auto step = [&](std::size_t axis) { return strides[axes[axis]]; };
  std::vector<float> to;
  to.reserve(from.size());
  for (std::size_t a = 0; a < size(0); ++a) {
    for (std::size_t b = 0; b < size(1); ++b) {
      for (std::size_t c = 0; c < size(2); ++c) {
        for (std::size_t d = 0; d < size(3); ++d) {
          to.push_back(
              from[a * step(0) + b * step(1) + c * step(2) + d * step(3)]);
        }
      }
    }
  }
  return to;
}

void append(std::vector<float>& to, const std::vector<float>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// A weight, and the shape it gets. image: what the layer's inputs were before
// they were flattened.
std::vector<float> for_pytorch(const LayerSpec& layer, const SampleShape& image,
                               std::span<const float> weight,
                               TensorSpec& tensor) {
  if (layer.kind == LayerKind::conv2d) {
    std::size_t window = layer.window;
    tensor.shape = {layer.out.channels, layer.in.channels, layer.window,
                    layer.window};
    return reordered(weight,
                     {window, window, layer.in.channels, layer.out.channels},
                     {3, 2, 0, 1});
  }
  return reordered(
      weight, {layer.out.size(), image.height, image.width, image.channels},
      {0, 3, 1, 2});
}

}  // namespace

Bytes write_for_pytorch(const ModelSpec& model, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<TensorSpec> tensors;
  std::vector<float> out;
  out.reserve(values.size());
  const std::vector<LayerSpec> layers = layers_of(model);
  for (std::size_t place = 0; place < layers.size(); ++place) {
    const LayerSpec& layer = layers[place];
    bool flattened = place > 0 && layers[place - 1].kind == LayerKind::flatten;
    const SampleShape& image = flattened ? layers[place - 1].in : layer.in;
    for (TensorSpec& tensor : tensors_of(layer, place)) {
      std::span<const float> part = values.first(tensor.size());
      values = values.subspan(tensor.size());
      bool is_weight = tensor.shape.size() > 1;
      append(out, is_weight ? for_pytorch(layer, image, part, tensor)
                            : std::vector<float>(part.begin(), part.end()));
      tensors.push_back(std::move(tensor));
    }
  }
  return write_tensors(tensors, out, metadata);
}

}  // namespace quorate
