#include "server/doors/boinc/scheduling/sticky_files.h"

#include <doctest/doctest.h>

#include "server/doors/boinc/files/names.h"
#include "tests/support/samples.h"

namespace quorate::boinc {
namespace {

using quorate::test::filled;

std::string shard_name(const Hash& hash) {
  return object_name(ObjectKind::shard, hash);
}

Hash numbered(std::uint32_t n) {
  Hash hash;
  hash.bytes[0] = static_cast<std::uint8_t>(n);
  hash.bytes[1] = static_cast<std::uint8_t>(n >> 8U);
  return hash;
}

bool all(const Hash&) {
  return true;
}

}  // namespace

TEST_CASE("shards that no run is trained on are deleted, others are kept") {
  const Hash used = filled<Hash>(1);
  const Hash stale = filled<Hash>(2);
  const std::vector<StickyFile> files = {
      {shard_name(used), 10},
      {shard_name(stale), 10},
      {"quorate_1_x86_64-pc-linux-gnu", 10},  // a program
      {"shard-00", 10}};
  StickyShards shards =
      sort_sticky(files, [&](const Hash& hash) { return hash == used; });
  CHECK(shards.kept == std::vector<Hash>{used});
  CHECK(shards.deleted == std::vector<std::string>{shard_name(stale)});
}

TEST_CASE("of too many shards the first named go") {
  std::vector<StickyFile> files;
  for (std::uint32_t n = 0; n < kMostStickyShards + 3; ++n) {
    files.push_back({shard_name(numbered(n)), 1});
  }
  StickyShards shards = sort_sticky(files, all);
  CHECK(shards.kept.size() == kMostStickyShards);
  CHECK(shards.deleted == std::vector<std::string>{shard_name(numbered(2)),
                                                   shard_name(numbered(1)),
                                                   shard_name(numbered(0))});
}

TEST_CASE("of too many bytes the first named go") {
  const std::vector<StickyFile> files = {
      {shard_name(numbered(0)), 1},
      {shard_name(numbered(1)), 0.6 * kMostStickyBytes},
      {shard_name(numbered(2)), 0.6 * kMostStickyBytes},
      {shard_name(numbered(3)), 0}};
  StickyShards shards = sort_sticky(files, all);
  CHECK(shards.deleted == std::vector<std::string>{shard_name(numbered(1))});
  CHECK(shards.kept.size() == 3);
}

}  // namespace quorate::boinc
