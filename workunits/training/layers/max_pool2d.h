// y = the greatest element of each window, as in torch.nn.MaxPool2d.
#pragma once

#include "kernels/backend.h"
#include "workunits/layer_spec.h"
#include "workunits/training/layer.h"

namespace quorate {

class MaxPool2d final : public Layer {
 public:
  MaxPool2d(Backend& backend, const LayerSpec& spec)
      : backend_(backend),
        in_(spec.in),
        out_(spec.out),
        how_{.size = spec.window,
             .stride = spec.stride,
             .padding = spec.padding} {}

  std::size_t outputs() const override { return out_.size(); }
  void forward(ConstView x, View y) override;
  void backward(ConstView x, ConstView dy, std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Pooling how_;
};

}  // namespace quorate
