// y = x W^T + b.
#pragma once

#include "kernels/backend.h"
#include "workunits/training/layer.h"

namespace quorate {

class Linear final : public Layer {
 public:
  // weight (out,in), bias (out).
  Linear(Backend& backend, Parameter weight, Parameter bias);

  std::size_t outputs() const override;
  void forward(ConstView x, View y) override;
  void backward(ConstView x, ConstView dy, std::optional<View> dx) override;

 private:
  Backend& backend_;
  Parameter weight_;
  Parameter bias_;
};

}  // namespace quorate
