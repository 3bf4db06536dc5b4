#include "workunits/objects/token_shard.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/shard.h"

namespace quorate {
namespace {

// Whether a container of these tensors is refused as a shard of 3 symbols.
bool is_refused(const std::vector<TensorView>& tensors) {
  Bytes bytes = write_safetensors(tensors);
  try {
    read_token_shard(bytes, 3, "shard 3");
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("tokens come back in order, as a view") {
  Bytes bytes = test::sample_token_shard();
  ByteView tokens = read_token_shard(bytes, 3, "shard 3");
  CHECK(to_hex(tokens) == "0001020100");
  CHECK(tokens.data() >= bytes.data());
  CHECK(tokens.data() < bytes.data() + bytes.size());
  CHECK(write_token_shard(tokens) == bytes);
}

TEST_CASE("a token beyond the symbols is named") {
  CHECK_THROWS_WITH_AS(
      read_token_shard(test::sample_token_shard(), 2, "shard 3"),
      "shard 3: token 2 is 2, symbols are 2", Error);
}

TEST_CASE("what is no shard of text is refused") {
  const Bytes zeros(64, 0);
  ByteView data(zeros);
  auto u8 = DType::u8;
  TensorView tokens{"tokens", u8, {64}, data};
  CHECK_FALSE(is_refused({tokens}));
  CHECK(is_refused({}));
  CHECK(is_refused({tokens, {"more", u8, {1}, data.first(1)}}));
  CHECK(is_refused({{"labels", u8, {64}, data}}));
  CHECK(is_refused({{"tokens", DType::boolean, {64}, data}}));
  CHECK(is_refused({{"tokens", DType::i8, {64}, data}}));
  CHECK(is_refused({{"tokens", DType::u16, {32}, data}}));
  CHECK(is_refused({{"tokens", u8, {8, 8}, data}}));
  CHECK(is_refused({{"tokens", u8, {}, data.first(1)}}));
  CHECK(is_refused({{"tokens", u8, {0}, {}}}));
}

TEST_CASE("no shard has more tokens than a full one") {
  const Bytes zeros(kShardTokens + 1, 0);
  ByteView data(zeros);
  Bytes full = write_token_shard(data.first(kShardTokens));
  CHECK(read_token_shard(full, 1, "shard").size() == kShardTokens);
  CHECK(is_refused({{"tokens", DType::u8, {kShardTokens + 1}, data}}));
}

// Neither kind of training can be given the other's data by accident.
TEST_CASE("shards of text and of images are not taken for each other") {
  CHECK_THROWS_WITH_AS(read_shard(test::sample_token_shard(), 256, "shard 3"),
                       "shard 3: expected images and labels, found 1 tensors",
                       Error);
  CHECK_THROWS_WITH_AS(read_token_shard(test::sample_shard(), 256, "shard 3"),
                       "shard 3: tensor \"tokens\" is missing", Error);
}

}  // namespace quorate
