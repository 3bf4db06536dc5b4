#include "workunits/objects/object_store.h"

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

struct Folder {
  test::TemporaryFolder root;
  ObjectStore open() { return ObjectStore(root / "objects", root / "tmp"); }
  std::size_t temporary_files() const {
    auto all = fs::directory_iterator(root / "tmp");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

bool is_corrupt(const std::function<void()>& action) {
  try {
    action();
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("an object is found by its hash, also after a restart") {
  Folder folder;
  Hash hash;
  {
    ObjectStore store = folder.open();
    hash = store.put(as_bytes("content"));
    CHECK(hash == sha256(as_bytes("content")));
    CHECK(folder.temporary_files() == 0);
  }
  ObjectStore store = folder.open();
  CHECK(store.contains(hash));
  CHECK(store.size(hash) == 7);
  CHECK(as_text(store.read(hash)) == "content");
  CHECK(as_text(store.map(hash).bytes()) == "content");
  std::string name = hash.hex();
  CHECK(store.path(hash) == folder.root / "objects" / name.substr(0, 2) / name);
}

TEST_CASE("an object is put in parts") {
  Folder folder;
  ObjectStore store = folder.open();
  ByteParts parts(as_bytes("cont"));
  parts.add({});
  parts.add({'e', 'n', 't'});
  CHECK(parts.size() == 7);
  const ByteParts moved = std::move(parts);
  const Hash hash = store.put(moved);
  CHECK(hash == sha256(as_bytes("content")));
  CHECK(as_text(store.read(hash)) == "content");
  // what differs in any part is written anew
  for (const char* damaged : {"Xontent", "contenX", "content!"}) {
    write_file_durably(store.path(hash), as_bytes(damaged));
    CHECK(store.put(moved) == hash);
    CHECK(as_text(store.read(hash)) == "content");
  }
}

TEST_CASE("an object that is not there") {
  Folder folder;
  ObjectStore store = folder.open();
  Hash hash = sha256(as_bytes("nothing"));
  CHECK_FALSE(store.contains(hash));
  CHECK_FALSE(store.size(hash).has_value());
  CHECK(is_corrupt([&] { store.read(hash); }));
  CHECK(is_corrupt([&] { store.map(hash); }));
  CHECK_NOTHROW(store.remove(hash));
}

TEST_CASE("a finished temporary file is adopted") {
  Folder folder;
  ObjectStore store = folder.open();
  fs::path first = store.temporary_path("upload");
  fs::path second = store.temporary_path("upload");
  CHECK(first != second);
  Hash hash = sha256(as_bytes("uploaded"));
  for (const fs::path& path : {first, second}) {  // twice is the same
    write_file_durably(path, as_bytes("uploaded"));
    store.adopt(path, hash);
  }
  CHECK(as_text(store.read(hash)) == "uploaded");
  CHECK(folder.temporary_files() == 0);
  CHECK_THROWS_AS(store.adopt(first, hash), Error);
}

TEST_CASE("leftovers of a killed process go, other files stay") {
  Folder folder;
  fs::path leftover = folder.open().temporary_path("upload");
  write_file_durably(leftover, as_bytes("half"));
  write_file_durably(folder.root / "tmp" / "notes.txt", as_bytes("mine"));
  folder.open();
  CHECK_FALSE(fs::exists(leftover));
  CHECK(fs::exists(folder.root / "tmp" / "notes.txt"));
}

TEST_CASE("an object that changed on disk is found out, and healed by a put") {
  Folder folder;
  ObjectStore store = folder.open();
  Hash hash = store.put(as_bytes("content"));
  write_file_durably(store.path(hash), as_bytes("c0ntent"));
  CHECK(is_corrupt([&] { store.map_checked(hash); }));
  CHECK(is_corrupt([&] { store.read(hash); }));
  write_file_durably(store.path(hash), as_bytes("cut"));
  store.put(as_bytes("content"));
  CHECK(as_text(store.read(hash)) == "content");
}

TEST_CASE("a removed object is gone") {
  Folder folder;
  ObjectStore store = folder.open();
  Hash hash = store.put(as_bytes("content"));
  store.remove(hash);
  CHECK_FALSE(store.contains(hash));
}

TEST_CASE("syncing takes one, many, removed and no objects") {
  Folder folder;
  ObjectStore store = folder.open();
  store.sync();
  Hash gone = store.put(as_bytes("gone"));
  store.remove(gone);
  store.sync();
  for (int i = 0; i < 10; ++i) store.put(as_bytes(std::to_string(i)));
  store.sync();
  store.sync();
  CHECK(as_text(store.read(sha256(as_bytes("9")))) == "9");
}

TEST_CASE("an empty object is an object") {
  Folder folder;
  ObjectStore store = folder.open();
  Hash hash = store.put(ByteView{});
  CHECK(store.read(hash).empty());
}

TEST_CASE("threads may put the same objects at once") {
  Folder folder;
  ObjectStore store = folder.open();
  auto put_all = [&store] {
    for (int i = 0; i < 20; ++i) store.put(as_bytes(std::to_string(i)));
  };
  {
    std::jthread first(put_all);
    std::jthread second(put_all);
  }
  for (int i = 0; i < 20; ++i) {
    std::string text = std::to_string(i);
    CHECK(as_text(store.read(sha256(as_bytes(text)))) == text);
  }
  CHECK(folder.temporary_files() == 0);
}

TEST_CASE("what was used lately is not removed, in whatever way it was") {
  Folder folder;
  ObjectStore store = folder.open();
  const auto now = fs::file_time_type::clock::now();
  const auto limit = now - std::chrono::minutes(30);
  const Hash hash = store.put(as_bytes("content"));
  auto grow_old = [&] {
    fs::last_write_time(store.path(hash), now - std::chrono::hours(1));
  };
  CHECK_FALSE(store.remove_unused_since(hash, limit));
  SUBCASE("put again") {
    grow_old();
    store.put(as_bytes("content"));
  }
  SUBCASE("renewed") {
    grow_old();
    CHECK(store.renew(hash));
  }
  SUBCASE("adopted, though its bytes came long ago") {
    grow_old();
    const fs::path upload = store.temporary_path("upload");
    write_file_durably(upload, as_bytes("content"));
    fs::last_write_time(upload, now - std::chrono::hours(1));
    store.adopt(upload, hash);
  }
  CHECK_FALSE(store.remove_unused_since(hash, limit));
  CHECK(as_text(store.read(hash)) == "content");
  grow_old();
  CHECK(store.remove_unused_since(hash, limit));
  CHECK_FALSE(store.contains(hash));
  CHECK_FALSE(store.remove_unused_since(hash, limit));
  CHECK_FALSE(store.renew(hash));
}

TEST_CASE("an object is somebody's own until somebody else has it, too") {
  Folder folder;
  ObjectStore store = folder.open();
  auto [hash, is_new] = store.put_own(ByteParts(as_bytes("a snapshot")));
  REQUIRE(is_new);
  SUBCASE("put") {
    store.put(as_bytes("a snapshot"));
  }
  SUBCASE("put as one's own, by two") {
    CHECK_FALSE(store.put_own(ByteParts(as_bytes("a snapshot"))).second);
  }
  SUBCASE("renewed") {
    store.renew(hash);
  }
  SUBCASE("uploaded by a host that had it from us") {
    const fs::path upload = store.temporary_path("upload");
    write_file_durably(upload, as_bytes("a snapshot"));
    store.adopt(upload, hash);
  }
  store.remove_own(hash);
  CHECK(store.contains(hash));

  const Hash own = store.put_own(ByteParts(as_bytes("another"))).first;
  store.remove_own(own);
  CHECK_FALSE(store.contains(own));
}

TEST_CASE("all objects are listed, and nothing else") {
  Folder folder;
  ObjectStore store = folder.open();
  const Hash first = store.put(as_bytes("first"));
  const Hash second = store.put(as_bytes("the second"));
  write_file_durably(folder.root / "objects" / "notes", as_bytes("mine"));
  write_file_durably(store.path(first).parent_path() / "notes",
                     as_bytes("mine"));
  const std::string name = first.hex();
  write_file_durably(store.path(second).parent_path() / name,
                     as_bytes("where it does not belong"));
  std::map<Hash, std::uint64_t> found;
  store.list([&](const ObjectReader::Found& one) {
    found[one.hash] = one.bytes;
    CHECK(one.used <= fs::file_time_type::clock::now());
  });
  CHECK(found == std::map<Hash, std::uint64_t>{{first, 5}, {second, 10}});
}

TEST_CASE("what is put again mends what was damaged on disk") {
  test::TemporaryFolder folder;
  ObjectStore store(folder / "objects", folder / "tmp");
  auto [hash, is_new] = store.put_own(ByteParts(as_bytes("a shard")));
  CHECK(is_new);
  CHECK_FALSE(store.put_own(ByteParts(as_bytes("a shard"))).second);
  for (const char* damage : {"a shArd", "short"}) {
    write_file_durably(store.path(hash), as_bytes(damage));
    CHECK_THROWS_AS(store.read(hash), Error);
    CHECK(store.put(as_bytes("a shard")) == hash);
    CHECK(as_text(store.read(hash)) == "a shard");
  }
}

}  // namespace quorate
