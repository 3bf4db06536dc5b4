#include "workunits/training/layers/plain.h"

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "workunits/training/layers/shapes.h"

namespace quorate {
namespace {

Function function_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return Function::relu;
    case Activation::gelu:
      return Function::gelu;
    case Activation::silu:
      return Function::silu;
    case Activation::tanh:
      return Function::tanh;
    case Activation::sigmoid:
      return Function::sigmoid;
  }
  check(false, "an activation of the table");
  return Function::relu;
}

static_assert(kMaxWindow <= kMaxPoolingSize);

Pooling pooling_of(const LayerSpec& layer) {
  return {
      .size = layer.window, .stride = layer.stride, .padding = layer.padding};
}

float reciprocal_of(std::size_t count) {
  return 1.0F / static_cast<float>(count);
}

// docs/numerics.md, section 7: what is kept, and how it is scaled.
Dropout dropout_of(const PlanStep& step) {
  float rate = step.layer->rate;
  return {.stream = stream_of(RandomUse::dropout, step.dropout),
          .threshold = static_cast<std::uint32_t>(rate * 0x1p32F),
          .scale = 1.0F / (1.0F - rate)};
}

}  // namespace

Activate::Activate(Backend& backend, const PlanStep& step)
    : backend_(backend), function_(function_of(step.layer->activation)) {}

void Activate::forward(ConstView x, const std::optional<ConstView>&, View y) {
  backend_.map(function_, x, y);
}

void Activate::backward(ConstView x, ConstView, View dy,
                        std::optional<View> dx) {
  if (dx) backend_.map_gradient(function_, x, dy, *dx);
}

MaxPool2d::MaxPool2d(Backend& backend, const PlanStep& step)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      how_(pooling_of(*step.layer)) {}

void MaxPool2d::forward(ConstView x, const std::optional<ConstView>&, View y) {
  backend_.max_pool2d(images_of(x, in_), how_, images_of(y, out_));
}

void MaxPool2d::backward(ConstView x, ConstView, View dy,
                         std::optional<View> dx) {
  if (!dx) return;
  backend_.max_pool2d_gradient(images_of(x, in_), images_of(dy, out_), how_,
                               images_of(*dx, in_));
}

AveragePool2d::AveragePool2d(Backend& backend, const PlanStep& step)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      how_(pooling_of(*step.layer)),
      reciprocal_(reciprocal_of(how_.size * how_.size)) {}

void AveragePool2d::forward(ConstView x, const std::optional<ConstView>&,
                            View y) {
  backend_.average_pool2d(images_of(x, in_), how_, reciprocal_,
                          images_of(y, out_));
}

void AveragePool2d::backward(ConstView, ConstView, View dy,
                             std::optional<View> dx) {
  if (!dx) return;
  backend_.average_pool2d_gradient(images_of(dy, out_), how_, reciprocal_,
                                   images_of(*dx, in_));
}

MeanPixels::MeanPixels(Backend& backend, const PlanStep& step)
    : backend_(backend),
      in_(step.layer->in),
      reciprocal_(reciprocal_of(pixels_of(in_))) {}

void MeanPixels::forward(ConstView x, const std::optional<ConstView>&, View y) {
  backend_.mean_pixels(pixel_arrays(x, in_), reciprocal_, y);
}

void MeanPixels::backward(ConstView, ConstView, View dy,
                          std::optional<View> dx) {
  if (!dx) return;
  backend_.mean_pixels_gradient(dy, reciprocal_, pixel_arrays(*dx, in_));
}

DropoutLayer::DropoutLayer(Backend& backend, const PlanStep& step,
                           const BatchContext& context)
    : backend_(backend), how_(dropout_of(step)), context_(context) {}

void DropoutLayer::apply(ConstView x, View y) {
  if (!context_.is_training) {
    backend_.scale(x, 1.0F, y);
    return;
  }
  how_.seed = context_.seed;
  how_.step = context_.step;
  backend_.dropout(x, how_, y);
}

void DropoutLayer::forward(ConstView x, const std::optional<ConstView>&,
                           View y) {
  apply(x, y);
}

void DropoutLayer::backward(ConstView, ConstView, View dy,
                            std::optional<View> dx) {
  if (dx) apply(dy, *dx);
}

SelfAttention::SelfAttention(Backend& backend, const PlanStep& step,
                             std::size_t max_batch)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      heads_(step.layer->heads),
      scale_(1.0F / std::sqrt(static_cast<float>(out_.channels / heads_))),
      weights_(backend.tensor({max_batch, heads_, out_.width, out_.width})) {}

View SelfAttention::weights(std::size_t batch) {
  return weights_.view().part(0, {batch, heads_, out_.width, out_.width});
}

void SelfAttention::forward(ConstView x, const std::optional<ConstView>&,
                            View y) {
  backend_.attention(pixel_arrays(x, in_), heads_, scale_, weights(x.shape[0]),
                     pixel_arrays(y, out_));
}

void SelfAttention::backward(ConstView x, ConstView, View dy,
                             std::optional<View> dx) {
  if (!dx) return;
  backend_.attention_gradient(pixel_arrays(x, in_), weights(x.shape[0]),
                              pixel_arrays(ConstView(dy), out_), heads_, scale_,
                              pixel_arrays(*dx, in_));
}

}  // namespace quorate
