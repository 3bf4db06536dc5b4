// A shard of text: one tensor, tokens U8 [n], in the order of the text. How
// many of them make a sample is up to the network that reads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace quorate {

// Tokens of a full shard. A sample never reaches over the end of a shard, so
// few of the places where one could begin are lost; and a mebibyte is quickly
// sent, yet keeps a host busy for longer than that takes.
inline constexpr std::uint32_t kShardTokens = 1 << 20;

Bytes write_token_shard(ByteView tokens);
// The tokens, as a view into `bytes`. Throws corrupt, naming `what`, if the
// bytes are no such shard, it is empty or larger than a full one, or a token is
// not below `symbols`.
ByteView read_token_shard(ByteView bytes, std::uint32_t symbols,
                          const std::string& what);

}  // namespace quorate
