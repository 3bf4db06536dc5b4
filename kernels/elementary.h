// The canonical functions of one number, in C++: canonical_exp, canonical_log
// and so on, and the gradients of those that networks use (x, dy -> dx).
#pragma once

#include "kernels/primitives.h"

namespace quorate {

#include "kernels/elementary-inl.h"

}  // namespace quorate
