// The canonical functions of one number, in C++: canonical_exp, canonical_log
// and so on, and the gradients of those that networks use (x, dy -> dx).
//
// exp, log, tanh, sigmoid, erf, rsqrt, relu, gelu, silu: the text is
// kernels/elementary-inl.h, compiled here in plain C++. The caller's thread
// must be in canonical floating-point mode (float_environment.h). Who needs
// them for arrays uses Backend::map instead.
#pragma once

#include "kernels/primitives.h"

namespace quorate {

#include "kernels/elementary-inl.h"

}  // namespace quorate
