#include "workunits/models/layer_spec.h"

#include <fmt/format.h>

namespace quorate {
namespace {

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

// Without those that change no value.
std::vector<LayerKind> kinds_of(const std::vector<LayerSpec>& layers) {
  std::vector<LayerKind> kinds;
  for (const LayerSpec& layer : layers) {
    if (layer.kind != LayerKind::flatten) kinds.push_back(layer.kind);
  }
  return kinds;
}

// A sum and its parts have one slope in memory (workunits/training/plan), which
// is right as long as nothing else adds to it before all have read it.
std::string fault_of_sums(const LayerSpec& residual) {
  constexpr const char* kAdvice = ": put another layer between the two";
  const std::vector<LayerKind> branch = kinds_of(residual.branch);
  const std::vector<LayerKind> shortcut = kinds_of(residual.shortcut);
  if (branch.empty()) return "a residual without a branch";
  if (branch.front() == LayerKind::residual ||
      branch.back() == LayerKind::residual) {
    return fmt::format(
        "its branch {} with a residual{}",
        branch.front() == LayerKind::residual ? "begins" : "ends", kAdvice);
  }
  if (!shortcut.empty() && shortcut.front() == LayerKind::residual) {
    return fmt::format("its shortcut begins with a residual{}", kAdvice);
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
  if (layer.branch.back().out == other) return fault_of_sums(layer);
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

void LayerChain::group_norm(std::uint32_t groups) {
  normalize(Norm::group, groups);
}

void LayerChain::layer_norm() {
  normalize(Norm::layer, 1);
}

void LayerChain::batch_norm() {
  normalize(Norm::batch, out_.channels);
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

std::string fault_of_batch(const std::vector<LayerSpec>& layers,
                           std::uint32_t batch, const std::string& prefix) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& layer = layers[i];
    std::string place = prefix + std::to_string(i);
    if (layer.kind == LayerKind::normalize && layer.norm == Norm::batch &&
        std::uint64_t{batch} * layer.in.height * layer.in.width < 2) {
      return fmt::format(
          "layer {}: a batch norm of one value of each channel has no "
          "variance: let at least two samples pass at a time",
          place);
    }
    std::string fault = fault_of_batch(layer.branch, batch, place + ".branch.");
    if (fault.empty()) {
      fault = fault_of_batch(layer.shortcut, batch, place + ".shortcut.");
    }
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace quorate
