// y = x where x > 0, else 0.
#pragma once

#include "kernels/backend.h"
#include "workunits/training/layer.h"

namespace quorate {

class Relu final : public Layer {
 public:
  Relu(Backend& backend, std::size_t width)
      : backend_(backend), width_(width) {}

  std::size_t outputs() const override { return width_; }
  void forward(ConstView x, View y) override {
    backend_.map(Function::relu, x, y);
  }
  void backward(ConstView x, ConstView dy, std::optional<View> dx) override {
    if (dx) backend_.map_gradient(Function::relu, x, dy, *dx);
  }

 private:
  Backend& backend_;
  std::size_t width_;
};

}  // namespace quorate
