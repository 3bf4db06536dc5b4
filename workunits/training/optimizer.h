// The local optimiser of a unit. Its state starts at zero in every unit.
// docs/numerics.md, section 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "workunits/task.h"

namespace quorate {

class Optimizer {
 public:
  // count: of the parameters that are learned. Throws io if there is no memory.
  Optimizer(Backend& backend, const OptimizerOptions& options,
            std::size_t count);

  // Changes the parameters by one step along the gradients, which may be
  // clipped for it. tensors: the gradients of each parameter tensor, in
  // declared order. step: of the unit, from 0.
  void step(View parameters, View gradients, std::span<const ConstView> tensors,
            std::uint32_t step);

  // The state: state_arrays() values per parameter, array after array, +0 at
  // first.
  View state() { return state_.view(); }

 private:
  void clip(View gradients, std::span<const ConstView> tensors);

  Backend& backend_;
  OptimizerOptions options_;
  Tensor state_;
  std::vector<float> squares_;  // of each tensor
};

// The coefficients of a step of AdamW, step counting from 0. beta^t is made by
// t products, so that every host makes the same.
AdamWStep adamw_step(const OptimizerOptions& options, std::uint32_t step);

}  // namespace quorate
