// Softmax cross-entropy of a batch. docs/numerics.md, section 7.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace quorate {

// Returns the batch loss: the sum of the samples' losses times `scale`, 1/B.
// Waits. logits, dlogits (B,classes): the network's outputs, and the gradient
// of the batch loss by them. losses (B): of each
// row of logits. targets: B classes.
inline float softmax_cross_entropy(Backend& backend, ConstView logits,
                                   Indices targets, float scale, View losses,
                                   View dlogits) {
  backend.softmax_cross_entropy(logits, targets, scale, losses, dlogits);
  return backend.sum(losses) * scale;
}

}  // namespace quorate
