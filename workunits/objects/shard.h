// A shard: the training samples of one object. Images are U8 [n, h, w, c],
// labels U8 [n].
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "workunits/models/sample_shape.h"

namespace quorate {

// Samples of a full shard.
inline constexpr std::uint32_t kShardSamples = 10240;

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
