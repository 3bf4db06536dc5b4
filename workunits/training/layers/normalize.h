// Group, layer and batch norm, with the relu after them if the plan says so.
#pragma once

#include "workunits/training/layer.h"

namespace quorate {

class Normalize final : public Layer {
 public:
  // gamma, beta (channels); of a batch norm also the running mean and variance
  // (channels), which a forward pass in training moves, and any other one uses.
  Normalize(Backend& backend, const PlanStep& step,
            const LayerParameters& parameters, std::size_t max_batch,
            const BatchContext& context);
  void forward(ConstView x, const std::optional<ConstView>& addend,
               View y) override;
  void backward(ConstView x, ConstView y, View dy,
                std::optional<View> dx) override;

 private:
  // (N,P,C), as the operation takes it, of rows (B,values).
  template <class V>
  V arrays(const V& rows) const;
  // (N,groups) of the statistics of a batch.
  View of_batch(Tensor& statistics, std::size_t batch) const;
  Shape statistics(std::size_t batch) const;
  void move_running(std::size_t batch);

  Backend& backend_;
  SampleShape shape_;
  Norm norm_;
  Normalization how_;
  Parameter gamma_;
  Parameter beta_;
  Tensor mean_;
  Tensor variance_;
  std::vector<View> running_;  // (1,channels)
  const BatchContext& context_;
};

}  // namespace quorate
