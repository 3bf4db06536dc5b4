#include "workunits/layer_spec.h"

#include <cmath>

#include <fmt/format.h>

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

// Windows of a layer along an extent; 0 if none fits.
std::uint32_t windows(std::uint32_t extent, const LayerSpec& layer) {
  std::uint64_t padded = extent + 2ULL * layer.padding;
  if (padded < layer.window || layer.stride == 0) return 0;
  return static_cast<std::uint32_t>((padded - layer.window) / layer.stride + 1);
}

SampleShape windows_of(const SampleShape& in, const LayerSpec& layer,
                       std::uint32_t channels) {
  return {windows(in.height, layer), windows(in.width, layer), channels};
}

bool is_pool(const LayerSpec& layer) {
  return layer.kind == LayerKind::max_pool2d ||
         layer.kind == LayerKind::average_pool2d;
}

// Of windows: that they exist, and are as kernels can take them.
std::string fault_of_windows(const LayerSpec& layer) {
  if (layer.window == 0 || layer.window > kMaxWindow || layer.stride == 0 ||
      layer.stride > kMaxWindow) {
    return fmt::format(
        "expected a window and a stride of 1 to {}, found {}, {}", kMaxWindow,
        layer.window, layer.stride);
  }
  std::uint32_t most = is_pool(layer) ? layer.window / 2 : layer.window;
  if (layer.padding > most) {
    return fmt::format("expected a padding of at most {}, found {}", most,
                       layer.padding);
  }
  if (layer.out.height == 0 || layer.out.width == 0) {
    return fmt::format("a window of {} x {} does not fit into {}", layer.window,
                       layer.window, text_of(layer.in));
  }
  return {};
}

std::string fault_of_groups(const LayerSpec& layer) {
  if (layer.groups != 0 && layer.in.channels % layer.groups == 0 &&
      layer.out.channels % layer.groups == 0) {
    return {};
  }
  return fmt::format("{} channels to {} do not make {} equal groups",
                     layer.in.channels, layer.out.channels, layer.groups);
}

std::string fault_of_attention(const LayerSpec& layer) {
  if (layer.in.height != 1) return "expected a sequence, found an image";
  if (layer.heads == 0 || layer.in.channels % (3 * layer.heads) != 0) {
    return fmt::format(
        "{} channels are not queries, keys and values of {} heads",
        layer.in.channels, layer.heads);
  }
  return {};
}

std::string fault_of_residual(const LayerSpec& layer,
                              const std::string& place) {
  if (layer.branch.empty()) return "a residual without a branch";
  for (const auto* part : {&layer.branch, &layer.shortcut}) {
    const char* name = part == &layer.branch ? ".branch." : ".shortcut.";
    std::string fault = fault_of_layers(*part, place + name);
    if (!fault.empty()) return fault;
  }
  SampleShape other =
      layer.shortcut.empty() ? layer.in : layer.shortcut.back().out;
  if (layer.branch.back().out == other) return {};
  return fmt::format("the branch gives {}, the shortcut {}",
                     text_of(layer.branch.back().out), text_of(other));
}

// Of what only layers of its kind have.
std::string fault_of_kind(const LayerSpec& layer, const std::string& place) {
  switch (layer.kind) {
    case LayerKind::conv2d: {
      std::string fault = fault_of_windows(layer);
      return fault.empty() ? fault_of_groups(layer) : fault;
    }
    case LayerKind::max_pool2d:
    case LayerKind::average_pool2d:
      return fault_of_windows(layer);
    case LayerKind::normalize:
      return fault_of_groups(layer);
    case LayerKind::dropout:
      if (layer.rate >= 0.0F && layer.rate < 1.0F) return {};
      return "expected a rate from 0 to below 1";
    case LayerKind::attention:
      return fault_of_attention(layer);
    case LayerKind::residual:
      return fault_of_residual(layer, place);
    default:
      return {};
  }
}

std::string fault_of(const LayerSpec& layer, const std::string& place) {
  std::string fault = fault_of_kind(layer, place);
  if (!fault.empty() ||
      (is_within_bounds(layer.in) && is_within_bounds(layer.out))) {
    return fault;
  }
  return fmt::format("from {} to {}: allowed are 1 to {} values",
                     text_of(layer.in), text_of(layer.out), kMaxSampleValues);
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
    case LayerKind::residual: {
      std::vector<TensorSpec> all =
          tensors_of(layer.branch, place + ".branch.");
      for (TensorSpec& tensor :
           tensors_of(layer.shortcut, place + ".shortcut.")) {
        all.push_back(std::move(tensor));
      }
      return all;
    }
    default:
      return {};
  }
}

std::vector<TensorSpec> tensors_of(const std::vector<LayerSpec>& layers,
                                   const std::string& prefix) {
  std::vector<TensorSpec> all;
  for (std::size_t place = 0; place < layers.size(); ++place) {
    for (TensorSpec& tensor :
         tensors_of(layers[place], prefix + std::to_string(place))) {
      all.push_back(std::move(tensor));
    }
  }
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

void LayerChain::add(LayerSpec layer) {
  layer.in = out_;
  out_ = layer.out;
  layers_.push_back(std::move(layer));
}

void LayerChain::linear(std::uint32_t outputs, bool bias) {
  add({.kind = LayerKind::linear,
       .out = {out_.height, out_.width, outputs},
       .bias = bias});
}

void LayerChain::conv2d(const Conv2d& how) {
  LayerSpec layer{.kind = LayerKind::conv2d,
                  .window = how.window,
                  .stride = how.stride,
                  .padding = how.padding,
                  .groups = how.groups,
                  .bias = how.bias};
  layer.out = windows_of(out_, layer, how.channels);
  add(layer);
}

void LayerChain::activation(Activation function) {
  add({.kind = LayerKind::activation, .out = out_, .activation = function});
}

void LayerChain::max_pool2d(const Windows& how) {
  LayerSpec layer{.kind = LayerKind::max_pool2d,
                  .window = how.window,
                  .stride = how.stride,
                  .padding = how.padding};
  layer.out = windows_of(out_, layer, out_.channels);
  add(layer);
}

void LayerChain::average_pool2d(const Windows& how) {
  LayerSpec layer{.kind = LayerKind::average_pool2d,
                  .window = how.window,
                  .stride = how.stride,
                  .padding = how.padding};
  layer.out = windows_of(out_, layer, out_.channels);
  add(layer);
}

void LayerChain::mean_pixels() {
  add({.kind = LayerKind::mean_pixels, .out = {1, 1, out_.channels}});
}

void LayerChain::flatten() {
  // What is too large to count does not get past fault_of_layers.
  bool fits = is_within_bounds(out_);
  add({.kind = LayerKind::flatten, .out = {1, 1, fits ? out_.size() : 0}});
}

void LayerChain::normalize(Norm norm, std::uint32_t groups) {
  add({.kind = LayerKind::normalize,
       .out = out_,
       .groups = groups,
       .norm = norm});
}

void LayerChain::dropout(float rate) {
  add({.kind = LayerKind::dropout, .out = out_, .rate = rate});
}

void LayerChain::embedding(std::uint32_t symbols, std::uint32_t channels) {
  add({.kind = LayerKind::embedding,
       .out = {out_.height, out_.width, channels},
       .symbols = symbols});
}

void LayerChain::attention(std::uint32_t heads) {
  add({.kind = LayerKind::attention,
       .out = {out_.height, out_.width, out_.channels / 3},
       .heads = heads});
}

void LayerChain::tied_linear(std::uint32_t symbols) {
  add({.kind = LayerKind::tied_linear,
       .out = {out_.height, out_.width, symbols},
       .bias = false});
}

void LayerChain::residual(const LayerChain& branch,
                          const LayerChain& shortcut) {
  add({.kind = LayerKind::residual,
       .out = branch.out(),
       .branch = branch.layers(),
       .shortcut = shortcut.layers()});
}

std::string fault_of_layers(const std::vector<LayerSpec>& layers,
                            const std::string& prefix) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::string place = prefix + std::to_string(i);
    std::string fault = fault_of(layers[i], place);
    if (fault.empty()) continue;
    // A fault inside a residual already names its place.
    return fault.starts_with("layer ") ? fault
                                       : "layer " + place + ": " + fault;
  }
  return {};
}

}  // namespace quorate
