#include "workunits/training/layers/normalize.h"

#include "base/arithmetic.h"
#include "base/error.h"
#include "workunits/training/layers/shapes.h"

namespace quorate {

Normalize::Normalize(Backend& backend, const PlanStep& step,
                     const LayerParameters& parameters, std::size_t max_batch,
                     const BatchContext& context)
    : backend_(backend),
      shape_(step.layer->out),
      norm_(step.layer->norm),
      how_{.groups = step.layer->groups,
           .epsilon = float_of_bits(kNormEpsilon),
           .relu = step.relu},
      gamma_(parameters.learned[0]),
      beta_(parameters.learned[1]),
      mean_(backend.tensor(statistics(max_batch))),
      variance_(backend.tensor(statistics(max_batch))),
      context_(context) {
  for (const View& view : parameters.running) {
    running_.push_back(view.part(0, statistics(max_batch)));
  }
}

template <class V>
V Normalize::arrays(const V& rows) const {
  std::size_t pixels = rows.shape[0] * pixels_of(shape_);
  std::size_t channels = shape_.channels;
  switch (norm_) {
    case Norm::layer:
      return rows.part(0, {pixels, 1, channels});
    case Norm::batch:
      return rows.part(0, {1, pixels, channels});
    default:
      return pixel_arrays(rows, shape_);
  }
}

Shape Normalize::statistics(std::size_t batch) const {
  switch (norm_) {
    case Norm::layer:
      return {batch * pixels_of(shape_), 1};
    case Norm::batch:
      return {1, how_.groups};
    default:
      return {batch, how_.groups};
  }
}

View Normalize::of_batch(Tensor& of, std::size_t batch) const {
  return of.view().part(0, statistics(batch));
}

void Normalize::forward(ConstView x, const std::optional<ConstView>&, View y) {
  std::size_t batch = x.shape[0];
  if (!running_.empty() && !context_.is_training) {
    backend_.normalize_with(arrays(x), running_[0], running_[1], gamma_.value,
                            beta_.value, how_, arrays(y));
    return;
  }
  backend_.normalize(arrays(x), gamma_.value, beta_.value, how_, arrays(y),
                     of_batch(mean_, batch), of_batch(variance_, batch));
  if (!running_.empty()) move_running(batch);
}

// The variance of what the batch was drawn from: over n - 1 values.
void Normalize::move_running(std::size_t batch) {
  std::size_t n = batch * pixels_of(shape_);
  check(n > 1, "a variance is of two values at least");
  float rate = float_of_bits(kStatisticsRate);
  float factor = static_cast<float>(n) / static_cast<float>(n - 1);
  backend_.move_towards(mean_.view(), 1.0F, rate, running_[0]);
  backend_.move_towards(variance_.view(), factor, rate, running_[1]);
}

void Normalize::backward(ConstView x, ConstView, View dy,
                         std::optional<View> dx) {
  check(running_.empty() || context_.is_training, "a step of training");
  std::size_t batch = x.shape[0];
  // The parameters' gradients come with the slopes of the input, wanted or not.
  View to = dx ? *dx : dy;
  backend_.normalize_gradient(
      arrays(x), arrays(ConstView(dy)), of_batch(mean_, batch),
      of_batch(variance_, batch), gamma_.value, beta_.value, how_, arrays(to),
      gamma_.gradient, beta_.gradient);
}

}  // namespace quorate
