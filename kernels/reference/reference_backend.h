// The oracle: plain scalar loops, written from docs/numerics.md alone, one per
// operation. Slow; every fast kernel is compared with it.
//
// The room kernels/reference may include kernels/ only. It owns no thread and
// no device: an operation computes in its call. A change of bits starts here,
// together with docs/numerics.md; then the fast backends follow. It is kept
// simple rather than fast (many times slower than the CPU's), so that it
// can be checked by reading.
#pragma once

#include <memory>

#include "kernels/backend.h"

namespace quorate {

// Works on every host. device().name is "reference".
std::unique_ptr<Backend> make_reference_backend();

}  // namespace quorate
