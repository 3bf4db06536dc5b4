// The first layer of a network of text, and the last one if it is tied to it.
#pragma once

#include "workunits/training/layer.h"

namespace quorate {

// y[t] = table[token t] + position[t]
class Embedding final : public Layer {
 public:
  // table (symbols,channels), positions (length,channels). The tokens are those
  // of the context; x is not read.
  Embedding(Backend& backend, const PlanStep& step,
            std::span<const Parameter> parameters, const BatchContext& context);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape out_;
  Parameter table_;
  Parameter positions_;
  const BatchContext& context_;
};

// y = x T^T with the embedding's table T, whose gradient it begins.
class TiedLinear final : public Layer {
 public:
  TiedLinear(Backend& backend, const PlanStep& step,
             std::span<const Parameter> parameters);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  Backend& backend_;
  SampleShape in_;
  SampleShape out_;
  Parameter table_;
};

}  // namespace quorate
