// The shape of one sample, and of what flows between the layers of a network.
#pragma once

#include <cstdint>

namespace quorate {

// The most values that a sample, or a layer's output for it, may have.
inline constexpr std::uint64_t kMaxSampleValues = 1ULL << 24;

// Rows, columns, channels; channels are stored side by side. A mere vector is
// one pixel of many channels.
struct SampleShape {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t channels = 0;

  // Of shapes within the bound above.
  std::uint32_t size() const { return height * width * channels; }
  bool operator==(const SampleShape&) const = default;
};

// 1 to kMaxSampleValues values.
inline bool is_within_bounds(const SampleShape& shape) {
  if (shape.height == 0 || shape.width == 0 || shape.channels == 0) {
    return false;
  }
  // Two factors below 2^32 each cannot overflow 64 bits.
  std::uint64_t pixels = std::uint64_t{shape.height} * shape.width;
  return pixels <= kMaxSampleValues &&
         pixels * shape.channels <= kMaxSampleValues;
}

}  // namespace quorate
