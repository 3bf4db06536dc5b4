#include "client/exchange/object_cache.h"

#include <algorithm>
#include <chrono>

#include <doctest/doctest.h>

#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using test::filled;

const Hash kA = filled<Hash>(1);
const Hash kB = filled<Hash>(2);
const Hash kC = filled<Hash>(3);

ObjectRef put(ObjectCache& cache, ObjectKind kind, const std::string& text) {
  ObjectRef ref{kind, sha256(as_bytes(text)), text.size()};
  write_file_durably(cache.part(ref), as_bytes(text));
  cache.adopt(ref);
  return ref;
}

TEST_CASE("the shards used longest ago go first") {
  std::vector<CachedShard> shards = {{kA, 10, 1}, {kB, 10, 3}, {kC, 10, 2}};
  CHECK(superfluous(shards, {}, 30).empty());
  CHECK(superfluous(shards, {}, 20) == std::vector<Hash>{kA});
  CHECK(superfluous(shards, {}, 10) == std::vector<Hash>{kC, kA});
}

TEST_CASE("a needed shard stays, whatever its age and size") {
  std::vector<CachedShard> shards = {{kA, 10, 1}, {kB, 10, 3}};
  CHECK(superfluous(shards, {kA}, 10) == std::vector<Hash>{kB});
  CHECK(superfluous(shards, {kA, kB}, 0).empty());
}

TEST_CASE("units and parts go with the last task, shards stay") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  ObjectRef unit = put(cache, ObjectKind::workunit, "unit");
  ObjectRef snapshot = put(cache, ObjectKind::snapshot, "snapshot");
  ObjectRef shard = put(cache, ObjectKind::shard, "shard");
  fs::path part = cache.part({ObjectKind::shard, kA, 5});
  write_file_durably(part, as_bytes("half"));

  cache.prune({snapshot.hash, kA}, 1000);
  CHECK_FALSE(cache.contains(unit));
  CHECK(cache.contains(snapshot));
  CHECK(cache.contains(shard));
  CHECK(fs::exists(part));

  cache.prune({}, 1000);
  CHECK(cache.contains(shard));
  CHECK_FALSE(fs::exists(part));
}

TEST_CASE("the two last snapshots stay, within the limit") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  std::vector<ObjectRef> snapshots;
  for (int i = 0; i < 4; ++i) {
    snapshots.push_back(
        put(cache, ObjectKind::snapshot, "snapshot " + std::to_string(i)));
    fs::last_write_time(cache.path(snapshots[static_cast<std::size_t>(i)]),
                        fs::file_time_type(std::chrono::hours(i + 1)));
  }
  auto there = [&] {
    std::string text;
    for (const ObjectRef& one : snapshots) {
      text += cache.contains(one) ? '1' : '0';
    }
    return text;
  };
  cache.prune({snapshots[0].hash}, 1000);
  CHECK(there() == "1011");
  ObjectRef shard = put(cache, ObjectKind::shard, "shard");
  cache.prune({}, 15);  // bytes: a snapshot has 10, the shard 5
  CHECK(there() == "0011");
  cache.prune({}, 14);
  CHECK(there() == "0001");
  CHECK(cache.contains(shard));
  // the last one stays in any case
  cache.prune({}, 4);
  CHECK(there() == "0001");
  CHECK_FALSE(cache.contains(shard));
}

TEST_CASE("a site's member keeps more snapshots, and its updates") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  const fs::path mine = folder / "update";
  write_file_durably(mine, as_bytes("change"));
  const ObjectRef update{ObjectKind::update, sha256(as_bytes("change")), 6};
  cache.add(update, mine);
  CHECK(fs::exists(mine));
  std::vector<ObjectRef> snapshots;
  for (int i = 0; i < 6; ++i) {
    snapshots.push_back(
        put(cache, ObjectKind::snapshot, "snapshot " + std::to_string(i)));
  }
  const auto count = [&] {
    return std::count_if(snapshots.begin(), snapshots.end(),
                         [&](const auto& one) { return cache.contains(one); });
  };
  cache.prune({}, 1000, Keeps::for_site);
  CHECK(count() == 6);
  CHECK(cache.contains(update));
  CHECK(cache.snapshot(snapshots[2].hash) == cache.path(snapshots[2]));
  CHECK(!cache.snapshot(update.hash));
  // the limit holds for all of them together
  cache.prune({}, 25, Keeps::for_site);
  CHECK(count() + (cache.contains(update) ? 1 : 0) == 3);
  cache.prune({}, 1000);
  CHECK(count() + (cache.contains(update) ? 1 : 0) == 2);
}

TEST_CASE("shards are listed, the last used first, and no more than wanted") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  ObjectRef old = put(cache, ObjectKind::shard, "old");
  ObjectRef used = put(cache, ObjectKind::shard, "used");
  ObjectRef last = put(cache, ObjectKind::shard, "last");
  put(cache, ObjectKind::snapshot, "snapshot");
  write_file_durably(cache.part({ObjectKind::shard, kA, 5}), as_bytes("half"));
  write_file_durably(folder / "notes.shard", as_bytes("none of ours"));
  auto now = fs::file_time_type::clock::now();
  fs::last_write_time(cache.path(old), now - std::chrono::hours(3));
  fs::last_write_time(cache.path(used), now - std::chrono::hours(1));
  fs::last_write_time(cache.path(last), now - std::chrono::hours(2));

  CHECK(cache.shards(10) == std::vector<Hash>{used.hash, last.hash, old.hash});
  CHECK(cache.shards(2) == std::vector<Hash>{used.hash, last.hash});
}

TEST_CASE("an object that changed on disk is dropped, another stays") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  ObjectRef changed = put(cache, ObjectKind::shard, "shard");
  ObjectRef whole = put(cache, ObjectKind::snapshot, "snapshot");
  write_file_durably(cache.path(changed), as_bytes("shArd"));

  cache.drop_if_changed(changed);
  cache.drop_if_changed(whole);
  cache.drop_if_changed({ObjectKind::shard, kA, 5});  // is not there
  CHECK_FALSE(cache.contains(changed));
  CHECK(cache.contains(whole));
}

TEST_CASE("shards over the limit are removed") {
  test::TemporaryFolder folder;
  ObjectCache cache(folder.path());
  ObjectRef shard = put(cache, ObjectKind::shard, "shard");
  cache.prune({}, 3);
  CHECK_FALSE(cache.contains(shard));
}

}  // namespace
}  // namespace quorate::client
