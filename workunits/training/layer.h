// One part of a network on a device. It holds views of its parameters, which
// the Model owns; what flows through it belongs to the Model too. A layer keeps
// what its way back needs beside that (statistics, weights of attention).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "workunits/training/plan.h"

namespace quorate {

// A parameter tensor and the gradient of the loss by it, of one shape.
struct Parameter {
  View value;
  View gradient;
};

// What a layer holds of the model's parameters, each in declared order.
struct LayerParameters {
  std::span<const Parameter> learned;
  std::span<const View> running;  // statistics
};

// What layers need to know of the batch beside its values.
struct BatchContext {
  std::vector<std::uint32_t> tokens;  // of a text: of all samples
  bool has_tied_table = false;        // a tied layer begins its gradient
  bool is_training = false;           // dropout drops, statistics run
  std::uint64_t seed = 0;             // of the unit
  std::uint32_t step = 0;             // of the unit, from 0
};

// B: samples of the batch; in, out: values per sample.
class Layer {
 public:
  virtual ~Layer() = default;

  // x (B,in) -> y (B,out); then the sum with addend (B,out) and the relu that
  // the plan gave to this step.
  virtual void forward(ConstView x, const std::optional<ConstView>& addend,
                       View y) = 0;

  // From x and y of forward(), where the plan keeps them, and dy (B,out), the
  // gradient of the loss by y: writes the gradients of its parameters and, if
  // wanted, dx (B,in). dy becomes the gradient by what the relu, if there is
  // one, was given.
  virtual void backward(ConstView x, ConstView y, View dy,
                        std::optional<View> dx) = 0;
};

// parameters: those of the step; for a tied layer, the table that it is tied
// to. max_batch: the most samples at a time. Throws io if there is no memory.
std::unique_ptr<Layer> make_layer(Backend& backend, const PlanStep& step,
                                  const LayerParameters& parameters,
                                  std::size_t max_batch,
                                  const BatchContext& context);

}  // namespace quorate
