// The functions of kernels/elementary.h that stand behind a Function.
//
// For the reference backend and the tests, which call one element at a time.
// The fast backends have tables of whole-array functions instead.
#pragma once

#include "base/error.h"
#include "kernels/elementary.h"
#include "kernels/operations.h"

namespace quorate {

// y = f(x), and dx = dy f'(x); each a pure function of numbers. The caller's
// thread is in canonical floating-point mode.
using ScalarFunction = float (*)(float x);
using ScalarGradient = float (*)(float x, float dy);

// Never null. Aborts for a number that is no Function.
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
  // A switch without default, so that a new function is a warning here.
  check(false, "a function of the table");
  return nullptr;
}

// Aborts for exp, log, erf and rsqrt: no network uses their gradients.
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
