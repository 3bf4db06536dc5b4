// Objects that were read lately, without the disk.
#include "server/objects/recent_objects.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

struct Objects {
  test::TemporaryFolder folder;
  ObjectStore store{folder.path() / "objects", folder.path() / "temporary"};

  Hash put(std::uint8_t value, std::size_t size) {
    return store.put(Bytes(size, value));
  }
  void remove(const Hash& hash) { fs::remove(store.path(hash)); }
};

TEST_CASE("what was read is not read again") {
  Objects objects;
  RecentObjects recent(objects.store, 1000);
  const Hash hash = objects.put(7, 100);
  CHECK(*recent.read_small(hash) == Bytes(100, 7));
  objects.remove(hash);
  CHECK(*recent.read_small(hash) == Bytes(100, 7));
  const Hash missing = objects.put(8, 100);
  objects.remove(missing);
  CHECK_THROWS_AS(recent.read_small(missing), Error);
}

TEST_CASE("what was not read for longest goes first, and nothing large stays") {
  Objects objects;
  RecentObjects recent(objects.store, 1000);
  const Hash large = objects.put(1, 126);  // over an eighth
  CHECK(recent.read_small(large) == nullptr);
  std::vector<Hash> hashes;
  for (std::uint8_t i = 0; i < 10; ++i) hashes.push_back(objects.put(i, 100));
  for (const Hash& hash : hashes) recent.read_small(hash);
  recent.read_small(hashes[0]);
  const Hash another = objects.put(99, 100);
  recent.read_small(another);  // instead of the second
  for (const Hash& hash : hashes) objects.remove(hash);
  objects.remove(large);
  CHECK_THROWS_AS(recent.read_small(large), Error);
  CHECK_THROWS_AS(recent.read_small(hashes[1]), Error);
  CHECK(recent.read_small(hashes[0])->size() == 100);
  CHECK(recent.read_small(hashes[2])->size() == 100);
  CHECK(recent.read_small(another)->size() == 100);
}

}  // namespace
}  // namespace quorate
