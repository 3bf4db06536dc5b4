// The shape of one sample, and of what flows between the layers of a network.
#pragma once

#include <cstdint>
#include <string>

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
bool is_within_bounds(const SampleShape& shape);
// "28 x 28 x 1", for messages.
std::string text_of(const SampleShape& shape);

}  // namespace quorate
