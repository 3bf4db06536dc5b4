#include "workunits/objects/shard.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

// Whether a container of these tensors is refused as a shard of 2 classes.
bool is_refused(const std::vector<TensorView>& tensors) {
  Bytes bytes = write_safetensors(tensors);
  try {
    read_shard(bytes, 2, "shard 3");
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("a shard comes back, as views") {
  Bytes bytes = test::sample_shard();
  ShardView shard = read_shard(bytes, 2, "shard 3");
  CHECK(shard.samples == 3);
  CHECK(shard.shape == SampleShape{2, 2, 1});
  REQUIRE(shard.images.size() == 12);
  CHECK(shard.images[8] == 80);
  CHECK(to_hex(shard.labels) == "010001");
  CHECK(shard.images.data() >= bytes.data());
  CHECK(shard.images.data() < bytes.data() + bytes.size());
  CHECK(write_shard(shard) == bytes);
}

TEST_CASE("a label beyond the classes is named") {
  CHECK_THROWS_WITH_AS(read_shard(test::sample_shard(), 1, "shard 3"),
                       "shard 3: sample 0 has label 1, classes are 1", Error);
}

TEST_CASE("what is no shard is refused") {
  const Bytes zeros(64, 0);
  ByteView data(zeros);
  auto u8 = DType::u8;
  TensorView images{"images", u8, {2, 2, 2, 1}, data.first(8)};
  TensorView labels{"labels", u8, {2}, data.first(2)};
  CHECK_FALSE(is_refused({images, labels}));
  CHECK(is_refused({images}));
  CHECK(is_refused({labels}));
  CHECK(is_refused({images, labels, {"more", u8, {1}, data.first(1)}}));
  CHECK(is_refused({images, {"labels", u8, {3}, data.first(3)}}));
  CHECK(is_refused({images, {"labels", DType::boolean, {2}, data.first(2)}}));
  CHECK(is_refused({{"images", u8, {2, 4, 1}, data.first(8)}, labels}));
  CHECK(is_refused({{"images", u8, {2, 0, 2, 1}, data.first(0)}, labels}));
  // empty: no samples
  CHECK(is_refused({{"images", u8, {0, 2, 2, 1}, data.first(0)},
                    {"labels", u8, {0}, data.first(0)}}));
}

TEST_CASE("sizes whose product overflows are refused") {
  // 2^24 * 2^20 * 2^20 * 0: no bytes, but absurd
  const std::uint64_t big = 1ULL << 20;
  CHECK(is_refused({{"images", DType::u8, {1, big, big, 0}, {}},
                    {"labels", DType::u8, {1}, as_bytes("a").first(1)}}));
}

}  // namespace quorate
