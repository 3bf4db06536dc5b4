// The functions of kernels/elementary.h that stand behind a Function.
#pragma once

#include "base/error.h"
#include "kernels/elementary.h"
#include "kernels/operations.h"

namespace quorate {

using ScalarFunction = float (*)(float x);
using ScalarGradient = float (*)(float x, float dy);

inline ScalarFunction scalar_function(Function f) {
  switch (f) {
    case Function::exp:
      return canonical_exp;
    case Function::log:
      return canonical_log;
    case Function::tanh:
      return canonical_tanh;
    case Function::sigmoid:
      return canonical_sigmoid;
    case Function::erf:
      return canonical_erf;
    case Function::rsqrt:
      return canonical_rsqrt;
    case Function::relu:
      return canonical_relu;
    case Function::gelu:
      return canonical_gelu;
    case Function::silu:
      return canonical_silu;
  }
  check(false, "a function of the table");
  return nullptr;
}

inline ScalarGradient scalar_gradient(Function f) {
  switch (f) {
    case Function::tanh:
      return canonical_tanh_gradient;
    case Function::sigmoid:
      return canonical_sigmoid_gradient;
    case Function::relu:
      return canonical_relu_gradient;
    case Function::gelu:
      return canonical_gelu_gradient;
    case Function::silu:
      return canonical_silu_gradient;
    default:
      check(false, "a function that has a gradient");
      return nullptr;
  }
}

}  // namespace quorate
