#include "workunits/training/model.h"

#include <span>

#include "base/error.h"
#include "workunits/training/layers/conv2d.h"
#include "workunits/training/layers/linear.h"
#include "workunits/training/layers/max_pool2d.h"
#include "workunits/training/layers/relu.h"

namespace quorate {
namespace {

Shape shape_of(const TensorSpec& tensor) {
  const std::vector<std::uint32_t>& size = tensor.shape;
  switch (size.size()) {
    case 1:
      return {size[0]};
    case 2:
      return {size[0], size[1]};
    default:
      check(size.size() == 4, "parameters have 1, 2 or 4 sizes");
      return {size[0], size[1], size[2], size[3]};
  }
}

// The tensors of `specs` one after another in two flat arrays.
std::vector<Parameter> lay_out(const std::vector<TensorSpec>& specs,
                               const View& values, const View& gradients) {
  std::vector<Parameter> parameters;
  std::size_t offset = 0;
  for (const TensorSpec& spec : specs) {
    Shape shape = shape_of(spec);
    parameters.push_back(
        {values.part(offset, shape), gradients.part(offset, shape)});
    offset += shape.count();
  }
  check(offset == values.shape.count(), "parameters fill their array");
  return parameters;
}

// parameters: weight and bias, if it has them.
std::unique_ptr<Layer> make_layer(Backend& backend, const LayerSpec& layer,
                                  std::span<const Parameter> parameters) {
  switch (layer.kind) {
    case LayerKind::linear:
      return std::make_unique<Linear>(backend, parameters[0], parameters[1]);
    case LayerKind::conv2d:
      return std::make_unique<Conv2d>(backend, layer, parameters[0],
                                      parameters[1]);
    case LayerKind::max_pool2d:
      return std::make_unique<MaxPool2d>(backend, layer);
    case LayerKind::relu:
      return std::make_unique<Relu>(backend, layer.out.size());
    case LayerKind::flatten:
      break;
  }
  check(false, "a layer that computes");
  return nullptr;
}

}  // namespace

Model::Model(const ModelSpec& spec, std::size_t max_batch, Backend& backend)
    : backend_(backend),
      parameters_(backend.tensor({parameter_count(spec)})),
      gradients_(backend.tensor({parameter_count(spec)})) {
  std::vector<Parameter> parameters =
      lay_out(parameters_of(spec), parameters_.view(), gradients_.view());
  values_.push_back({backend.tensor({max_batch, inputs_of(spec)})});
  auto next = parameters.begin();
  for (const LayerSpec& layer : layers_of(spec)) {
    // Rows of pixels, channels fastest, already are flat.
    if (layer.kind == LayerKind::flatten) continue;
    std::ptrdiff_t count = has_parameters(layer) ? 2 : 0;
    add_layer(make_layer(backend, layer, {next, next + count}), max_batch);
    next += count;
  }
}

void Model::add_layer(std::unique_ptr<Layer> layer, std::size_t max_batch) {
  Shape shape{max_batch, layer->outputs()};
  values_.push_back({backend_.tensor(shape)});
  slopes_.push_back({backend_.tensor(shape)});
  layers_.push_back(std::move(layer));
}

ConstView Model::forward(std::size_t batch) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->forward(values_[i].of(batch), values_[i + 1].of(batch));
  }
  return values_.back().of(batch);
}

void Model::backward(std::size_t batch) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    std::optional<View> dx;
    if (i > 0) dx = slopes_[i - 1].of(batch);
    layers_[i]->backward(values_[i].of(batch), slopes_[i].of(batch), dx);
  }
}

}  // namespace quorate
