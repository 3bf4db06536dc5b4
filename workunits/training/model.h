// A network on a device: the layers that a ModelSpec describes, with their
// parameters, gradients and what flows between them.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "workunits/model_spec.h"
#include "workunits/training/layer.h"

namespace quorate {

class Model {
 public:
  // max_batch: the most samples that pass at a time. The parameters are +0.
  // Throws unsupported for a family that we cannot build, io if there is no
  // memory.
  Model(const ModelSpec& spec, std::size_t max_batch, Backend& backend);

  // All of them in declared order (workunits/model_spec.h), one flat array.
  View parameters() { return parameters_.view(); }
  View gradients() { return gradients_.view(); }

  // Where the inputs (batch,inputs) of a batch go before forward().
  View input(std::size_t batch) { return values_.front().of(batch); }
  // Where the gradient by the logits (batch,classes) goes before backward().
  View output_gradient(std::size_t batch) { return slopes_.back().of(batch); }

  // The logits (batch,classes) of what is in input(batch); valid until the
  // next call.
  ConstView forward(std::size_t batch);
  // Writes gradients() from output_gradient(batch), after forward(batch).
  void backward(std::size_t batch);

 private:
  // Room for max_batch rows, seen as a matrix of fewer.
  struct Rows {
    Tensor tensor;
    View of(std::size_t batch) {
      return tensor.view().part(0, {batch, tensor.shape()[1]});
    }
  };
  void add_layer(std::unique_ptr<Layer> layer, std::size_t max_batch);

  Backend& backend_;
  Tensor parameters_;
  Tensor gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Rows> values_;  // the input, then each layer's output
  std::vector<Rows> slopes_;  // the gradient by each layer's output
};

}  // namespace quorate
