#include "workunits/training/layers/linear.h"

#include "base/error.h"

namespace quorate {

Linear::Linear(Backend& backend, Parameter weight, Parameter bias)
    : backend_(backend), weight_(weight), bias_(bias) {
  check(weight.value.shape.rank() == 2 &&
            bias.value.shape.count() == weight.value.shape[0],
        "a linear layer has a weight (out,in) and a bias (out)");
}

std::size_t Linear::outputs() const {
  return weight_.value.shape[0];
}

void Linear::forward(ConstView x, View y) {
  backend_.matmul(x, Transpose::no, weight_.value, Transpose::yes, y,
                  {.bias = bias_.value});
}

void Linear::backward(ConstView x, ConstView dy, std::optional<View> dx) {
  backend_.matmul(dy, Transpose::yes, x, Transpose::no, weight_.gradient);
  backend_.sum_rows(dy, bias_.gradient);
  if (!dx) return;
  backend_.matmul(dy, Transpose::no, weight_.value, Transpose::no, *dx);
}

}  // namespace quorate
