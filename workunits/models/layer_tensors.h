// What a layer keeps and costs: its tensors, as data, and its operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workunits/models/layer_spec.h"

namespace quorate {

// One tensor, named as PyTorch does.
struct TensorSpec {
  std::string name;
  std::vector<std::uint32_t> shape;
  // Initial values are uniform in [-bound, bound), 1 / sqrt(fan in); without a
  // bound they are all `constant`.
  float bound = 0.0F;
  float constant = 0.0F;

  std::uint64_t size() const;  // elements
};

// What a layer that is no residual learns, in declared order, named after its
// place in a torch.nn.Sequential: linear [out, in] and [out], conv2d
// [window, window, in / groups, out] and [out], normalize [channels] twice,
// embedding [symbols, channels] and [positions, channels].
std::vector<TensorSpec> tensors_of(const LayerSpec& layer,
                                   const std::string& place);
// Of layers one after another. prefix: of their places, "" or ending in ".".
// Those of a residual are its branch's, then its shortcut's, as
// place.branch.0 and so on.
std::vector<TensorSpec> tensors_of(const std::vector<LayerSpec>& layers,
                                   const std::string& prefix = "");

// The same for what a batch norm keeps beside that: mean and variance of each
// channel, which no gradient changes.
std::vector<TensorSpec> running_statistics_of(const LayerSpec& layer,
                                              const std::string& place);
std::vector<TensorSpec> running_statistics_of(
    const std::vector<LayerSpec>& layers, const std::string& prefix = "");

// Floating-point operations of the products of one sample going forward, a
// product and its sum counting as two.
double forward_operations(const LayerSpec& layer);

}  // namespace quorate
