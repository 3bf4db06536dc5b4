#include "workunits/training/optimizer.h"

#include <cmath>

#include "kernels/float_environment.h"

namespace quorate {
namespace {

// 1 / (1 - beta^t), t = step + 1.
float correction(float beta, std::uint32_t step) {
  float power = beta;
  for (std::uint32_t i = 0; i < step; ++i) power = power * beta;
  return 1.0F / (1.0F - power);
}

}  // namespace

AdamWStep adamw_step(const OptimizerOptions& options, std::uint32_t step) {
  CanonicalFloatMode mode;
  return {.learning_rate = options.learning_rate,
          .beta1 = options.beta1,
          .one_minus_beta1 = 1.0F - options.beta1,
          .beta2 = options.beta2,
          .one_minus_beta2 = 1.0F - options.beta2,
          .correction1 = correction(options.beta1, step),
          .correction2 = correction(options.beta2, step),
          .epsilon = options.epsilon,
          .weight_decay = options.weight_decay};
}

Optimizer::Optimizer(Backend& backend, const OptimizerOptions& options,
                     std::size_t count)
    : backend_(backend),
      options_(options),
      state_(backend.tensor({state_arrays(options.kind) * count})) {}

void Optimizer::step(View parameters, View gradients,
                     std::span<const ConstView> tensors, std::uint32_t step) {
  if (options_.clip_norm != 0.0F) clip(gradients, tensors);
  std::size_t count = parameters.shape.count();
  View first = state_.view().part(0, {count});
  if (options_.kind == OptimizerKind::sgd) {
    backend_.sgd(parameters, gradients, first,
                 {.learning_rate = options_.learning_rate,
                  .momentum = options_.momentum,
                  .weight_decay = options_.weight_decay});
    return;
  }
  backend_.adamw(parameters, gradients, first,
                 state_.view().part(count, {count}),
                 adamw_step(options_, step));
}

void Optimizer::clip(View gradients, std::span<const ConstView> tensors) {
  squares_.resize(tensors.size());
  backend_.sums_of_squares(tensors, squares_);
  CanonicalFloatMode mode;
  float sum = 0.0F;
  for (float square : squares_) sum = sum + square;
  float norm = std::sqrt(sum);
  if (norm > options_.clip_norm) {
    backend_.scale(gradients, options_.clip_norm / norm, gradients);
  }
}

}  // namespace quorate
