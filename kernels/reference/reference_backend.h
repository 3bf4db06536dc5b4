// The oracle: plain scalar loops, written from docs/numerics.md alone, one per
// operation. Slow; every fast kernel is compared with it.
#pragma once

#include <memory>

#include "kernels/backend.h"

namespace quorate {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace quorate
