// y = x * W + b: a convolution, as in torch.nn.Conv2d.
#pragma once

#include "kernels/backend.h"
#include "workunits/layer_spec.h"
#include "workunits/training/layer.h"

namespace quorate {

class Conv2d final : public Layer {
 public:
  // weight (window,window,in,out), bias (out).
  Conv2d(Backend& backend, const LayerSpec& spec, Parameter weight,
         Parameter bias);

  std::size_t outputs() const override { return out_.size(); }
  void forward(ConstView x, View y) override;
  void backward(ConstView x, ConstView dy, std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Convolution how_;
  Parameter weight_;
  Parameter bias_;
};

}  // namespace quorate
