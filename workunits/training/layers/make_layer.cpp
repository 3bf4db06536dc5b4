#include "base/error.h"
#include "workunits/training/layers/normalize.h"
#include "workunits/training/layers/plain.h"
#include "workunits/training/layers/products.h"
#include "workunits/training/layers/tables.h"

namespace quorate {

std::unique_ptr<Layer> make_layer(Backend& backend, const PlanStep& step,
                                  const LayerParameters& parameters,
                                  std::size_t max_batch,
                                  const BatchContext& context) {
  switch (step.layer->kind) {
    case LayerKind::linear:
      return std::make_unique<Linear>(backend, step, parameters.learned);
    case LayerKind::conv2d:
      return std::make_unique<Conv2d>(backend, step, parameters.learned);
    case LayerKind::activation:
      return std::make_unique<Activate>(backend, step);
    case LayerKind::max_pool2d:
      return std::make_unique<MaxPool2d>(backend, step);
    case LayerKind::average_pool2d:
      return std::make_unique<AveragePool2d>(backend, step);
    case LayerKind::mean_pixels:
      return std::make_unique<MeanPixels>(backend, step);
    case LayerKind::normalize:
      return std::make_unique<Normalize>(backend, step, parameters, max_batch,
                                         context);
    case LayerKind::dropout:
      return std::make_unique<DropoutLayer>(backend, step, context);
    case LayerKind::embedding:
      return std::make_unique<Embedding>(backend, step, parameters.learned,
                                         context);
    case LayerKind::attention:
      return std::make_unique<SelfAttention>(backend, step, max_batch);
    case LayerKind::tied_linear:
      return std::make_unique<TiedLinear>(backend, step, parameters.learned);
    case LayerKind::flatten:
    case LayerKind::residual:
      break;
  }
  check(false, "a layer that computes");
  return nullptr;
}

}  // namespace quorate
