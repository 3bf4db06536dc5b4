// Pictures of samples, for the operator's eyes: a wrong byte order, shape or
// label is seen at once.
#pragma once

#include "server/datasets/dataset.h"

namespace quorate {

struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;  // 1 grey, 3 red, green, blue
  Bytes pixels;                // [height, width, channels]
};

// A row for every class from 0 (at most kGridClasses), with its first training
// samples from left to right. Small samples are enlarged, large ones thinned
// out, to cells of about kGridCell pixels. Of channels that are no colours the
// first is shown.
inline constexpr std::uint32_t kGridClasses = 20;
inline constexpr std::uint32_t kGridCell = 64;
Picture sample_grid(const DatasetSource& source);

// The bytes of a PNG file. Throws io without memory for it.
Bytes encode_png(const Picture& picture);

}  // namespace quorate
