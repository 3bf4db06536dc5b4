// Softmax cross-entropy of a batch. docs/numerics.md, section 7.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace quorate {

// The batch loss: the sum of the losses of all targets times `scale`, 1/B.
// Waits.
inline float batch_loss(Backend& backend, ConstView losses, float scale) {
  return backend.sum(losses) * scale;
}

// Returns the loss of a batch that passes at once. Waits. logits, dlogits
// (B,classes): the network's outputs, and the gradient of the batch loss by
// them. losses (B): of each row of logits. targets: B classes.
inline float softmax_cross_entropy(Backend& backend, ConstView logits,
                                   Indices targets, float scale, View losses,
                                   View dlogits) {
  backend.softmax_cross_entropy(logits, targets, scale, losses, dlogits);
  return batch_loss(backend, losses, scale);
}

}  // namespace quorate
