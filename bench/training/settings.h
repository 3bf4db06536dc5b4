// How the benchmarks' networks are optimised, here and in PyTorch.
#pragma once

#include "workunits/models/model_spec.h"
#include "workunits/task.h"

namespace quorate {

// Images: momentum; text: AdamW, slowly, since nothing warms it up.
inline OptimizerOptions optimizer_for(const ModelSpec& spec) {
  if (!takes_text(spec)) return {.learning_rate = 0.05F, .momentum = 0.9F};
  return {.learning_rate = 3e-4F,
          .weight_decay = 0.01F,
          .kind = OptimizerKind::adamw,
          .beta1 = 0.9F,
          .beta2 = 0.99F,
          .epsilon = 1e-8F};
}

}  // namespace quorate
