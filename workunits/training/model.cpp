#include "workunits/training/model.h"

#include <span>

#include "base/error.h"

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

// The tensors of `specs` one after another in a flat array.
std::vector<View> lay_out(const std::vector<TensorSpec>& specs,
                          const View& array) {
  std::vector<View> views;
  std::size_t offset = 0;
  for (const TensorSpec& spec : specs) {
    views.push_back(array.part(offset, shape_of(spec)));
    offset += views.back().shape.count();
  }
  check(offset == array.shape.count(), "tensors fill their array");
  return views;
}

// The parameters of a whole network, each kind in declared order.
struct Parameters {
  std::vector<Parameter> learned;
  std::vector<View> running;

  // Those of one step; a tied layer has the first table of all.
  LayerParameters of(const PlanStep& step) const {
    std::span<const Parameter> all(learned);
    if (step.layer->kind == LayerKind::tied_linear) return {all.first(1), {}};
    return {all.subspan(step.first_tensor, tensors_of(*step.layer, "").size()),
            std::span(running).subspan(
                step.first_statistic,
                running_statistics_of(*step.layer, "").size())};
  }
};

}  // namespace

Model::Model(const ModelSpec& spec, std::size_t max_batch, Backend& backend,
             Purpose purpose)
    : backend_(backend),
      plan_(plan_of(layers_of(spec), max_batch, purpose)),
      classes_(classes_of(spec)),
      trainable_({trainable_count(spec)}),
      parameters_(backend.tensor({parameter_count(spec)})),
      gradients_(backend.tensor(
          {purpose == Purpose::training ? trainable_.count() : 0})),
      arena_(backend.tensor({plan_.arena})) {
  const std::vector<LayerSpec> layers = layers_of(spec);
  const std::vector<TensorSpec> specs = tensors_of(layers);
  Parameters parameters;
  View gradients =
      purpose == Purpose::training ? gradients_.view() : trainable();
  std::vector<View> slopes = lay_out(specs, gradients);
  for (const View& value : lay_out(specs, trainable())) {
    View slope = slopes[parameters.learned.size()];
    parameters.learned.push_back({value, slope});
    gradient_tensors_.push_back(slope);
  }
  parameters.running = lay_out(
      running_statistics_of(layers),
      parameters_.view().part(trainable_.count(), {statistic_count(spec)}));
  for (const PlanStep& step : plan_.steps) {
    if (!step.layer) {
      layers_.push_back(nullptr);
      continue;
    }
    context_.has_tied_table |= step.layer->kind == LayerKind::tied_linear;
    layers_.push_back(
        make_layer(backend, step, parameters.of(step), max_batch, context_));
  }
}

View Model::value(std::size_t index, std::size_t batch) {
  const PlanValue& value = plan_.values[index];
  return arena_.view().part(value.offset, {batch, value.size});
}

View Model::slope(std::size_t index, std::size_t batch) {
  const PlanValue& value = plan_.values[index];
  check(value.slope.has_value(), "a value that has a slope");
  return arena_.view().part(*value.slope, {batch, value.size});
}

template <class V>
V Model::logit_rows(const V& rows) const {
  return rows.part(0, {rows.shape.count() / classes_, classes_});
}

View Model::output_gradient(std::size_t batch) {
  return logit_rows(slope(plan_.output, batch));
}

void Model::begin_step(std::uint64_t unit_seed, std::uint32_t step) {
  context_.is_training = true;
  context_.seed = unit_seed;
  context_.step = step;
}

ConstView Model::forward(std::size_t batch) {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const PlanStep& step = plan_.steps[i];
    View x = value(step.in, batch);
    View y = value(step.out, batch);
    std::optional<ConstView> addend;
    if (step.addend) addend = value(*step.addend, batch);
    if (step.layer) {
      layers_[i]->forward(x, addend, y);
    } else {
      backend_.add(x, *addend, y);
    }
  }
  return logit_rows(ConstView(value(plan_.output, batch)));
}

void Model::backward(std::size_t batch) {
  for (std::size_t i = plan_.steps.size(); i-- > 0;) {
    // The parts of a sum have its slope already.
    if (plan_.steps[i].layer) step_back(i, batch);
  }
}

void Model::step_back(std::size_t i, std::size_t batch) {
  const PlanStep& step = plan_.steps[i];
  View x = value(step.in, batch);
  View y = value(step.out, batch);
  View dy = slope(step.out, batch);
  if (step.in == 0) {
    layers_[i]->backward(x, y, dy, std::nullopt);
    return;
  }
  View dx = slope(step.in, batch);
  if (!step.accumulates) {
    layers_[i]->backward(x, y, dy, dx);
    return;
  }
  View part = arena_.view().part(step.scratch, {batch, dx.shape[1]});
  layers_[i]->backward(x, y, dy, part);
  backend_.add(dx, part, dx);
}

}  // namespace quorate
