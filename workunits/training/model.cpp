#include "workunits/training/model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/training/layers/linear.h"
#include "workunits/training/layers/relu.h"

namespace quorate {
namespace {

Shape shape_of(const TensorSpec& tensor) {
  check(tensor.shape.size() == 1 || tensor.shape.size() == 2,
        "parameters of an mlp are vectors and matrices");
  if (tensor.shape.size() == 1) return {tensor.shape[0]};
  return {tensor.shape[0], tensor.shape[1]};
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

}  // namespace

Model::Model(const ModelSpec& spec, std::size_t max_batch, Backend& backend)
    : backend_(backend),
      parameters_(backend.tensor({parameter_count(spec)})),
      gradients_(backend.tensor({parameter_count(spec)})) {
  if (spec.family != "mlp") {
    throw Error(ErrorKind::unsupported,
                fmt::format("model family \"{}\": this program trains mlp "
                            "only; update it",
                            spec.family));
  }
  std::vector<Parameter> parameters =
      lay_out(parameters_of(spec), parameters_.view(), gradients_.view());
  values_.push_back({backend.tensor({max_batch, inputs_of(spec)})});
  for (std::size_t i = 0; i < parameters.size(); i += 2) {
    if (i > 0) {
      std::size_t width = layers_.back()->outputs();
      add_layer(std::make_unique<Relu>(backend, width), max_batch);
    }
    add_layer(
        std::make_unique<Linear>(backend, parameters[i], parameters[i + 1]),
        max_batch);
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
