#include "workunits/models/layer_tensors.h"

#include <cmath>

namespace quorate {
namespace {

// Inputs that each output sums over.
std::uint32_t fan_in(const LayerSpec& layer) {
  return layer.kind == LayerKind::conv2d
             ? layer.window * layer.window * layer.in.channels / layer.groups
             : layer.in.channels;
}

std::vector<std::uint32_t> weight_shape(const LayerSpec& layer) {
  if (layer.kind == LayerKind::linear) {
    return {layer.out.channels, layer.in.channels};
  }
  return {layer.window, layer.window, layer.in.channels / layer.groups,
          layer.out.channels};
}

std::vector<TensorSpec> weight_and_bias(const LayerSpec& layer,
                                        const std::string& place) {
  float bound = 1.0F / std::sqrt(static_cast<float>(fan_in(layer)));
  std::vector<TensorSpec> tensors = {
      {place + ".weight", weight_shape(layer), bound}};
  if (layer.bias) {
    tensors.push_back({place + ".bias", {layer.out.channels}, bound});
  }
  return tensors;
}

std::vector<TensorSpec> tables(const LayerSpec& layer,
                               const std::string& place) {
  float bound = 1.0F / std::sqrt(static_cast<float>(layer.out.channels));
  return {{place + ".weight", {layer.symbols, layer.out.channels}, bound},
          {place + ".position", {layer.out.width, layer.out.channels}, bound}};
}

std::uint64_t pixels(const SampleShape& shape) {
  return std::uint64_t{shape.height} * shape.width;
}

using TensorsOfLayer = std::vector<TensorSpec> (*)(const LayerSpec&,
                                                   const std::string&);

void collect(const std::vector<LayerSpec>& layers, const std::string& prefix,
             TensorsOfLayer of, std::vector<TensorSpec>& to) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::string place = prefix + std::to_string(i);
    for (TensorSpec& tensor : of(layers[i], place)) {
      to.push_back(std::move(tensor));
    }
    collect(layers[i].branch, place + ".branch.", of, to);
    collect(layers[i].shortcut, place + ".shortcut.", of, to);
  }
}

}  // namespace

std::uint64_t TensorSpec::size() const {
  std::uint64_t product = 1;
  for (std::uint32_t extent : shape) product *= extent;
  return product;
}

std::vector<TensorSpec> tensors_of(const LayerSpec& layer,
                                   const std::string& place) {
  switch (layer.kind) {
    case LayerKind::linear:
    case LayerKind::conv2d:
      return weight_and_bias(layer, place);
    case LayerKind::normalize:
      return {{place + ".weight", {layer.in.channels}, 0.0F, 1.0F},
              {place + ".bias", {layer.in.channels}}};
    case LayerKind::embedding:
      return tables(layer, place);
    default:
      return {};
  }
}

std::vector<TensorSpec> running_statistics_of(const LayerSpec& layer,
                                              const std::string& place) {
  if (layer.kind != LayerKind::normalize || layer.norm != Norm::batch) {
    return {};
  }
  return {{place + ".running_mean", {layer.in.channels}},
          {place + ".running_var", {layer.in.channels}, 0.0F, 1.0F}};
}

std::vector<TensorSpec> tensors_of(const std::vector<LayerSpec>& layers,
                                   const std::string& prefix) {
  std::vector<TensorSpec> all;
  collect(layers, prefix, tensors_of, all);
  return all;
}

std::vector<TensorSpec> running_statistics_of(
    const std::vector<LayerSpec>& layers, const std::string& prefix) {
  std::vector<TensorSpec> all;
  collect(layers, prefix, running_statistics_of, all);
  return all;
}

double forward_operations(const LayerSpec& layer) {
  double out = static_cast<double>(pixels(layer.out)) * layer.out.channels;
  double operations = 0;
  switch (layer.kind) {
    case LayerKind::linear:
    case LayerKind::conv2d:
    case LayerKind::tied_linear:
      return 2.0 * fan_in(layer) * out;
    case LayerKind::attention:
      // Scores and sums of values, half of each above the diagonal.
      return 2.0 * static_cast<double>(pixels(layer.in)) * out;
    case LayerKind::residual:
      for (const auto* part : {&layer.branch, &layer.shortcut}) {
        for (const LayerSpec& inner : *part) {
          operations += forward_operations(inner);
        }
      }
      return operations;
    default:
      return 0;
  }
}

}  // namespace quorate
