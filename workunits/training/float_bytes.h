// Arrays of binary32 values as the bytes that are hashed and stored.
#pragma once

#include <bit>
#include <span>

#include "base/arithmetic.h"
#include "base/bytes.h"

namespace quorate {

static_assert(std::endian::native == std::endian::little,
              "stored numbers are little-endian");

inline ByteView bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          values.size_bytes()};
}

// Replaces every NaN by the one that is hashed.
inline void make_nan_canonical(std::span<float> values) {
  for (float& value : values) {
    if (value != value) value = float_of_bits(kCanonicalNan);
  }
}

}  // namespace quorate
