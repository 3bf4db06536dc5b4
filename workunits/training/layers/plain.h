// Layers without parameters.
#pragma once

#include "workunits/training/layer.h"

namespace quorate {

class Activate final : public Layer {
 public:
  Activate(Backend& backend, const PlanStep& step);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  Function function_;
};

// y = the greatest element of each window, as torch.nn.MaxPool2d.
class MaxPool2d final : public Layer {
 public:
  MaxPool2d(Backend& backend, const PlanStep& step);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Pooling how_;
};

// y = the average of each window, of 0 beyond the image, as
// torch.nn.AvgPool2d.
class AveragePool2d final : public Layer {
 public:
  AveragePool2d(Backend& backend, const PlanStep& step);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Pooling how_;
  float reciprocal_;
};

// y = the average of all pixels.
class MeanPixels final : public Layer {
 public:
  MeanPixels(Backend& backend, const PlanStep& step);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  float reciprocal_;
};

// y = x with some elements +0 while training, the others larger for it.
class DropoutLayer final : public Layer {
 public:
  DropoutLayer(Backend& backend, const PlanStep& step,
               const BatchContext& context);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  void apply(ConstView x, View y);

  Backend& backend_;
  Dropout how_;
  const BatchContext& context_;
};

// Causal self-attention of queries, keys and values.
class SelfAttention final : public Layer {
 public:
  SelfAttention(Backend& backend, const PlanStep& step, std::size_t max_batch);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  View weights(std::size_t batch);

  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  std::size_t heads_;
  float scale_;
  Tensor weights_;
};

}  // namespace quorate
