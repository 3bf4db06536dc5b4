#include "workunits/objects/token_shard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

constexpr const char* kTokens = "tokens";

}  // namespace

std::uint32_t token_windows(std::uint64_t tokens, std::uint32_t context) {
  std::uint64_t whole = tokens / context;
  return whole < 2 ? 0 : static_cast<std::uint32_t>(whole - 1);
}

Bytes write_token_shard(ByteView tokens) {
  std::array<TensorView, 1> tensors{
      TensorView{kTokens, DType::u8, {tokens.size()}, tokens}};
  return write_safetensors(tensors);
}

ByteView read_token_shard(ByteView bytes, std::uint32_t symbols,
                          const std::string& what) {
  Safetensors file(bytes, what);
  const TensorView& tokens = file.get(kTokens, DType::u8);
  if (file.tensors().size() != 1 || tokens.shape.size() != 1 ||
      tokens.data.empty() || tokens.data.size() > kShardTokens) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one tensor, tokens of shape [n] with "
                            "n in 1 to {}",
                            what, kShardTokens));
  }
  auto bad = std::find_if(tokens.data.begin(), tokens.data.end(),
                          [symbols](auto token) { return token >= symbols; });
  if (bad != tokens.data.end()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: token {} is {}, symbols are {}", what,
                            bad - tokens.data.begin(), *bad, symbols));
  }
  return tokens.data;
}

}  // namespace quorate
