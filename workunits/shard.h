// A shard: the training samples of one object. Images are U8 [n, h, w, c],
// labels U8 [n].
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace quorate {

// Samples of a full shard.
inline constexpr std::uint32_t kShardSamples = 10240;

struct SampleShape {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t channels = 0;

  std::uint32_t size() const { return height * width * channels; }
  bool operator==(const SampleShape&) const = default;
};

// Views into bytes owned by somebody else.
struct ShardView {
  SampleShape shape;
  std::uint32_t samples = 0;
  ByteView images;  // samples * shape.size()
  ByteView labels;  // samples
};

Bytes write_shard(const ShardView& shard);
// Throws corrupt, naming `what`, if the bytes are no shard, it is empty, or a
// label is not below `classes`.
ShardView read_shard(ByteView bytes, std::uint32_t classes,
                     const std::string& what);

}  // namespace quorate
