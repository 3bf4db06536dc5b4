#include "workunits/layer_spec.h"

#include <cmath>

#include <fmt/format.h>

namespace quorate {
namespace {

// Inputs that each output sums over.
std::uint32_t fan_in(const LayerSpec& layer) {
  return layer.kind == LayerKind::conv2d
             ? layer.window * layer.window * layer.in.channels
             : layer.in.size();
}

std::vector<std::uint32_t> weight_shape(const LayerSpec& layer) {
  if (layer.kind == LayerKind::linear) {
    return {layer.out.size(), layer.in.size()};
  }
  return {layer.window, layer.window, layer.in.channels, layer.out.channels};
}

}  // namespace

std::uint64_t TensorSpec::size() const {
  std::uint64_t product = 1;
  for (std::uint32_t extent : shape) product *= extent;
  return product;
}

bool has_parameters(const LayerSpec& layer) {
  return layer.kind == LayerKind::linear || layer.kind == LayerKind::conv2d;
}

std::vector<TensorSpec> tensors_of(const LayerSpec& layer, std::size_t place) {
  if (!has_parameters(layer)) return {};
  float bound = 1.0F / std::sqrt(static_cast<float>(fan_in(layer)));
  return {{fmt::format("{}.weight", place), weight_shape(layer), bound},
          {fmt::format("{}.bias", place), {layer.out.channels}, bound}};
}

double forward_operations(const LayerSpec& layer) {
  if (!has_parameters(layer)) return 0;
  return 2.0 * fan_in(layer) * layer.out.size();
}

void LayerChain::add(LayerSpec layer) {
  layer.in = out_;
  out_ = layer.out;
  layers_.push_back(layer);
}

void LayerChain::linear(std::uint32_t outputs) {
  add({.kind = LayerKind::linear, .out = {1, 1, outputs}});
}

void LayerChain::conv2d(std::uint32_t channels, std::uint32_t window,
                        std::uint32_t padding) {
  auto fitting = [&](std::uint32_t extent) {
    return extent + 2 * padding - window + 1;
  };
  add({.kind = LayerKind::conv2d,
       .out = {fitting(out_.height), fitting(out_.width), channels},
       .window = window,
       .padding = padding});
}

void LayerChain::relu() {
  add({.kind = LayerKind::relu, .out = out_});
}

void LayerChain::max_pool2d(std::uint32_t window) {
  add({.kind = LayerKind::max_pool2d,
       .out = {out_.height / window, out_.width / window, out_.channels},
       .window = window,
       .stride = window});
}

void LayerChain::flatten() {
  add({.kind = LayerKind::flatten, .out = {1, 1, out_.size()}});
}

}  // namespace quorate
