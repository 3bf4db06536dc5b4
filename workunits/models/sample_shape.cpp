#include "workunits/models/sample_shape.h"

#include <fmt/format.h>

namespace quorate {

bool is_within_bounds(const SampleShape& shape) {
  if (shape.height == 0 || shape.width == 0 || shape.channels == 0) {
    return false;
  }
  // Two factors below 2^32 each cannot overflow 64 bits.
  std::uint64_t pixels = std::uint64_t{shape.height} * shape.width;
  return pixels <= kMaxSampleValues &&
         pixels * shape.channels <= kMaxSampleValues;
}

std::string text_of(const SampleShape& shape) {
  return fmt::format("{} x {} x {}", shape.height, shape.width, shape.channels);
}

}  // namespace quorate
