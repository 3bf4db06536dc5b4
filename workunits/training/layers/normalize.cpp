#include "workunits/training/layers/normalize.h"

#include "base/arithmetic.h"
#include "workunits/training/layers/shapes.h"

namespace quorate {

Normalize::Normalize(Backend& backend, const PlanStep& step,
                     std::span<const Parameter> parameters,
                     std::size_t max_batch)
    : backend_(backend),
      shape_(step.layer->out),
      norm_(step.layer->norm),
      how_{.groups = step.layer->groups,
           .epsilon = float_of_bits(kNormEpsilon),
           .relu = step.relu},
      gamma_(parameters[0]),
      beta_(parameters[1]),
      mean_(backend.tensor(statistics(max_batch))),
      variance_(backend.tensor(statistics(max_batch))) {}

template <class V>
V Normalize::arrays(const V& rows) const {
  if (norm_ == Norm::group) return pixel_arrays(rows, shape_);
  return rows.part(
      0, {rows.shape[0] * pixels_of(shape_), 1, std::size_t{shape_.channels}});
}

Shape Normalize::statistics(std::size_t batch) const {
  std::size_t arrays = norm_ == Norm::group ? 1 : pixels_of(shape_);
  return {batch * arrays, how_.groups};
}

View Normalize::of_batch(Tensor& of, std::size_t batch) const {
  return of.view().part(0, statistics(batch));
}

void Normalize::forward(ConstView x, const std::optional<ConstView>&, View y) {
  std::size_t batch = x.shape[0];
  backend_.normalize(arrays(x), gamma_.value, beta_.value, how_, arrays(y),
                     of_batch(mean_, batch), of_batch(variance_, batch));
}

void Normalize::backward(ConstView x, ConstView, View dy,
                         std::optional<View> dx) {
  std::size_t batch = x.shape[0];
  // The parameters' gradients come with the slopes of the input, wanted or not.
  View to = dx ? *dx : dy;
  backend_.normalize_gradient(
      arrays(x), arrays(ConstView(dy)), of_batch(mean_, batch),
      of_batch(variance_, batch), gamma_.value, beta_.value, how_, arrays(to),
      gamma_.gradient, beta_.gradient);
}

}  // namespace quorate
