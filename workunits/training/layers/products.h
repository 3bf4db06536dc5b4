// Layers that are products with a weight: linear, tied and convolution.
#pragma once

#include "workunits/training/layer.h"

namespace quorate {

// y = x W^T + b for every pixel, as torch.nn.Linear.
class Linear final : public Layer {
 public:
  // weight (out,in), bias (out) if it has one.
  Linear(Backend& backend, const PlanStep& step,
         std::span<const Parameter> parameters);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  bool relu_;
  Parameter weight_;
  std::optional<Parameter> bias_;
};

// y = x * W + b, as torch.nn.Conv2d.
class Conv2d final : public Layer {
 public:
  // weight (window,window,in / groups,out), bias (out) if it has one.
  Conv2d(Backend& backend, const PlanStep& step,
         std::span<const Parameter> parameters);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Convolution how_;
  bool relu_;
  Parameter weight_;
  std::optional<Parameter> bias_;
};

}  // namespace quorate
