// The order in which a network is computed, and where everything that flows
// through it lies in memory: decided once, before the first step, from the
// layers alone. Pure; Model carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workunits/models/layer_tensors.h"

namespace quorate {

// evaluation: forward alone, so that values go as soon as they are used.
enum class Purpose { training, evaluation };

// One computation: out = layer(in), then + addend, then relu; or the sum
// in + addend without a layer. Backward, in the reverse order of steps, it
// gives the slopes of `in`, and passes its own on to the addend.
struct PlanStep {
  std::optional<LayerSpec> layer;
  std::size_t in = 0;   // a value
  std::size_t out = 0;  // the same
  std::optional<std::size_t> addend{};
  bool relu = false;
  std::size_t first_tensor = 0;     // of its parameters, in declared order
  std::size_t first_statistic = 0;  // of its running statistics, the same
  std::uint32_t dropout = 0;        // of a dropout, its number the same way
  // The slope of `in` was begun by a later step: made at `scratch`, then added.
  bool accumulates = false;
  std::size_t scratch = 0;
};

// What flows between two steps, for every sample. Offsets are elements from the
// start of the arena, for the whole batch. Slopes: the gradient of the loss by
// it. Values that no gradient reaches, the input among them, have none.
struct PlanValue {
  std::size_t size = 0;  // elements of a sample
  std::size_t offset = 0;
  std::optional<std::size_t> slope{};
};

struct Plan {
  std::vector<PlanStep> steps;
  std::vector<PlanValue> values;  // the first is the input
  std::size_t output = 0;         // a value
  std::size_t arena = 0;          // elements
};

// layers: without fault. max_batch: the most samples at a time.
Plan plan_of(const std::vector<LayerSpec>& layers, std::size_t max_batch,
             Purpose purpose);

}  // namespace quorate
