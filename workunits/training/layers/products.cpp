#include "workunits/training/layers/products.h"

#include "base/error.h"
#include "workunits/training/layers/shapes.h"

namespace quorate {
namespace {

std::optional<Parameter> bias_of(std::span<const Parameter> parameters) {
  if (parameters.size() < 2) return std::nullopt;
  return parameters[1];
}

Epilogue epilogue(const std::optional<Parameter>& bias,
                  const std::optional<ConstView>& addend, bool relu) {
  Epilogue then{.addend = addend, .relu = relu};
  if (bias) then.bias = bias->value;
  return then;
}

}  // namespace

Linear::Linear(Backend& backend, const PlanStep& step,
               std::span<const Parameter> parameters)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      relu_(step.relu),
      weight_(parameters[0]),
      bias_(bias_of(parameters)) {
  check(weight_.value.shape == Shape{out_.channels, in_.channels},
        "a linear layer has a weight (out,in)");
}

void Linear::forward(ConstView x, const std::optional<ConstView>& addend,
                     View y) {
  backend_.matmul(pixel_rows(x, in_), Transpose::no, weight_.value,
                  Transpose::yes, pixel_rows(y, out_),
                  epilogue(bias_, addend, relu_));
}

void Linear::backward(ConstView x, ConstView y, View dy,
                      std::optional<View> dx) {
  if (relu_) backend_.map_gradient(Function::relu, y, dy, dy);
  View slopes = pixel_rows(dy, out_);
  backend_.matmul(slopes, Transpose::yes, pixel_rows(x, in_), Transpose::no,
                  weight_.gradient);
  if (bias_) backend_.sum_rows(slopes, bias_->gradient);
  if (!dx) return;
  backend_.matmul(slopes, Transpose::no, weight_.value, Transpose::no,
                  pixel_rows(*dx, in_));
}

Conv2d::Conv2d(Backend& backend, const PlanStep& step,
               std::span<const Parameter> parameters)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      how_{.stride = step.layer->stride,
           .padding = step.layer->padding,
           .groups = step.layer->groups},
      relu_(step.relu),
      weight_(parameters[0]),
      bias_(bias_of(parameters)) {
  check(weight_.value.shape.rank() == 4, "a convolution's weight has 4 sizes");
}

void Conv2d::forward(ConstView x, const std::optional<ConstView>& addend,
                     View y) {
  backend_.conv2d(images_of(x, in_), weight_.value, how_, images_of(y, out_),
                  epilogue(bias_, addend, relu_));
}

void Conv2d::backward(ConstView x, ConstView y, View dy,
                      std::optional<View> dx) {
  if (relu_) backend_.map_gradient(Function::relu, y, dy, dy);
  backend_.conv2d_weight_gradient(images_of(x, in_), images_of(dy, out_), how_,
                                  weight_.gradient);
  if (bias_) backend_.sum_rows(pixel_rows(dy, out_), bias_->gradient);
  if (!dx) return;
  backend_.conv2d_input_gradient(images_of(dy, out_), weight_.value, how_,
                                 images_of(*dx, in_));
}

}  // namespace quorate
