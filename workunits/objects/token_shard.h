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

// Samples of a text: windows of `context` tokens, each with the token after it
// as the last target. They lie side by side, and all of them `shift` tokens
// further, below `context`, which changes from epoch to epoch; the last begins
// where the greatest shift leaves it whole.
std::uint32_t token_windows(std::uint64_t tokens, std::uint32_t context);

Bytes write_token_shard(ByteView tokens);
// The tokens, as a view into `bytes`. Throws corrupt, naming `what`, if the
// bytes are no such shard, it is empty or larger than a full one, or a token is
// not below `symbols`.
ByteView read_token_shard(ByteView bytes, std::uint32_t symbols,
                          const std::string& what);

}  // namespace quorate
