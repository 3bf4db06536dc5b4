// One part of a network. It holds views of its parameters, which the Model
// owns; what flows through it belongs to the Model too, so that a layer has no
// state of its own.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/tensor.h"

namespace quorate {

// A parameter tensor and the gradient of the loss by it, of one shape.
struct Parameter {
  View value;
  View gradient;
};

// B: samples of the batch; in, out: values per sample.
class Layer {
 public:
  virtual ~Layer() = default;

  // Values per sample that come out.
  virtual std::size_t outputs() const = 0;

  // x (B,in) -> y (B,out).
  virtual void forward(ConstView x, View y) = 0;

  // From x (B,in) and dy (B,out), the gradient of the loss by y: writes the
  // gradients of its parameters and, if wanted, dx (B,in).
  virtual void backward(ConstView x, ConstView dy, std::optional<View> dx) = 0;
};

}  // namespace quorate
