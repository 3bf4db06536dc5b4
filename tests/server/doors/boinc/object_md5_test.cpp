#include "server/doors/boinc/files/object_md5.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

struct Place {
  Hash put(const std::string& text) { return objects.put(as_bytes(text)); }

  quorate::test::TemporaryFolder folder;
  ObjectStore objects{folder / "objects", folder / "tmp"};
};

}  // namespace

TEST_CASE("the MD5 of an object is that of its bytes, and read once") {
  Place place;
  const Hash object = place.put("a shard");
  const Hash empty = place.put("");
  ObjectMd5s md5s(place.objects);
  CHECK(md5s.of(object) == md5(as_bytes("a shard")));
  CHECK(md5s.of(empty) == md5({}));
  place.objects.remove(object);
  CHECK(md5s.of(object) == md5(as_bytes("a shard")));
}

TEST_CASE("an object that is missing has none") {
  Place place;
  ObjectMd5s md5s(place.objects);
  const Hash later = sha256(as_bytes("later"));
  CHECK_THROWS_AS(md5s.of(later), Error);
  place.put("later");
  CHECK(md5s.of(later) == md5(as_bytes("later")));
}

TEST_CASE("those asked for last are remembered, and no more") {
  Place place;
  const Hash a = place.put("a"), b = place.put("b"), c = place.put("c");
  ObjectMd5s md5s(place.objects, 2);
  md5s.of(a);
  md5s.of(b);
  md5s.of(a);
  md5s.of(c);  // b goes
  for (const Hash& hash : {a, b, c}) place.objects.remove(hash);
  CHECK(md5s.of(a) == md5(as_bytes("a")));
  CHECK(md5s.of(c) == md5(as_bytes("c")));
  CHECK_THROWS_AS(md5s.of(b), Error);
}

TEST_CASE("several threads get the same MD5s") {
  Place place;
  std::vector<Hash> objects;
  for (int i = 0; i < 8; ++i) objects.push_back(place.put(std::to_string(i)));
  ObjectMd5s md5s(place.objects, 4);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t n = 0; n < 200; ++n) {
        std::size_t i = (n * (t + 1)) % objects.size();
        wrong[t] +=
            md5s.of(objects[i]) == md5(as_bytes(std::to_string(i))) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

}  // namespace quorate::boinc
