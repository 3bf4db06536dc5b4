// A network on a device: the layers that a ModelSpec describes, with their
// parameters, gradients and what flows between them.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "workunits/models/model_spec.h"
#include "workunits/training/layer.h"
#include "workunits/training/plan.h"

namespace quorate {

class Model {
 public:
  // max_batch: the most samples that pass at a time. The parameters are +0.
  // Throws unsupported for a family that we cannot build, io if there is no
  // memory.
  Model(const ModelSpec& spec, std::size_t max_batch, Backend& backend,
        Purpose purpose = Purpose::training);

  // All of them in declared order (workunits/models/model_spec.h), one flat
  // array; those that are learned, its first part; and their gradients.
  View parameters() { return parameters_.view(); }
  View trainable() { return parameters_.view().part(0, trainable_); }
  View gradients() { return gradients_.view(); }

  // Those of each tensor that is learned, in declared order.
  const std::vector<ConstView>& gradient_tensors() const {
    return gradient_tensors_;
  }

  // Where the inputs (batch,inputs) of a batch of images go before forward().
  View input(std::size_t batch) { return value(0, batch); }
  // Those of a text: all tokens of each sample of the batch.
  void set_tokens(std::vector<std::uint32_t> tokens) {
    context_.tokens = std::move(tokens);
  }
  // Where the gradient by the logits goes before backward(); of a model for
  // training.
  View output_gradient(std::size_t batch);

  // Which step of which unit comes: forward() then drops what dropout drops,
  // and moves running statistics. Before the first it does as in an evaluation.
  void begin_step(std::uint64_t unit_seed, std::uint32_t step);
  // The logits (batch targets,classes) of what is in input(batch); valid until
  // the next call.
  ConstView forward(std::size_t batch);
  // Writes gradients() from output_gradient(batch), after forward(batch).
  void backward(std::size_t batch);

  // Elements of everything that flows between the layers.
  std::size_t arena_size() const { return plan_.arena; }

 private:
  View value(std::size_t index, std::size_t batch);
  View slope(std::size_t index, std::size_t batch);
  // (batch targets,classes)
  template <class V>
  V logit_rows(const V& rows) const;
  void step_back(std::size_t step, std::size_t batch);

  Backend& backend_;
  Plan plan_;
  std::size_t classes_;
  Shape trainable_;
  Tensor parameters_;
  Tensor gradients_;
  Tensor arena_;
  BatchContext context_;
  std::vector<ConstView> gradient_tensors_;
  std::vector<std::unique_ptr<Layer>> layers_;  // of each step; sums have none
};

}  // namespace quorate
