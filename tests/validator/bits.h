// Floats compared by their bits: -0 is not 0, and a NaN is itself.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arithmetic.h"

namespace quorate {

using Floats = std::vector<float>;
using Bits = std::vector<std::uint32_t>;

inline Bits bits_of(const Floats& values) {
  Bits out;
  for (const float value : values) out.push_back(bits(value));
  return out;
}

}  // namespace quorate
