// The local optimiser of a unit: SGD with momentum and weight decay. Its state
// starts at zero in every unit. docs/numerics.md, section 7.
#pragma once

#include <cstddef>

#include "kernels/backend.h"
#include "workunits/task.h"

namespace quorate {

class Sgd {
 public:
  // count: of the parameters. Throws io if there is no memory.
  Sgd(Backend& backend, const SgdOptions& options, std::size_t count)
      : backend_(backend),
        step_{.learning_rate = options.learning_rate,
              .momentum = options.momentum,
              .weight_decay = options.weight_decay},
        velocities_(backend.tensor({count})) {}

  // Changes the parameters by one step along the gradients.
  void step(View parameters, ConstView gradients) {
    backend_.sgd(parameters, gradients, velocities_.view(), step_);
  }

  // The state: one value per parameter, +0 at first.
  View velocities() { return velocities_.view(); }

 private:
  Backend& backend_;
  SgdStep step_;
  Tensor velocities_;
};

}  // namespace quorate
