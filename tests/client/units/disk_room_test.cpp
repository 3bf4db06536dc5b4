#include "client/units/disk_room.h"

#include <chrono>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/update.h"

namespace quorate::client {
namespace {

constexpr std::uint64_t kKilo = 1000;

struct Fixture {
  ObjectRef put(ObjectKind kind, std::uint8_t fill, std::uint64_t bytes,
                int age_hours = 0) const {
    const Bytes whole(bytes, fill);
    const ObjectRef object{kind, sha256(whole), bytes};
    cache.put(object, ByteParts(whole));
    fs::last_write_time(cache.path(object), fs::file_time_type::clock::now() -
                                                std::chrono::hours(age_hours));
    return object;
  }
  void write_result(ResultId result, std::uint64_t bytes) const {
    const fs::path folder = project / "results" / std::to_string(result);
    fs::create_directories(folder);
    write_file_durably(folder / "checkpoint", Bytes(bytes, 1));
  }
  std::string refusal(ResultId result, const UnitBytes& unit, ErrorKind kind,
                      const std::set<Hash>& needed = {}) {
    try {
      room.claim(result, unit, needed);
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.what();
    }
    return "claimed";
  }

  test::TemporaryFolder data;
  fs::path project = data / "projects";
  ObjectCache cache{project / "objects"};
  DiskRoom room{data.path(), project, cache};
};

TEST_CASE("what a killed worker left half written goes, and nothing else") {
  const test::TemporaryFolder folder;
  for (const char* name : {"update", "checkpoint", "checkpoint.17.0.tmp"}) {
    write_file_durably(folder / name, Bytes(kKilo, 1));
  }
  remove_unfinished(folder.path());
  CHECK(folder_bytes(folder.path()) == 2 * kKilo);
  CHECK_FALSE(fs::exists(folder / "checkpoint.17.0.tmp"));
}

TEST_CASE("a unit says what it takes of the disk") {
  Fixture fixture;
  TrainingTask work = test::sample_task();
  const ObjectRef here = fixture.put(ObjectKind::snapshot, 1, 300);
  const ObjectRef shard{ObjectKind::shard, test::filled<Hash>(1), 500};
  Assignment assignment;
  assignment.objects = {
      {ObjectKind::workunit, test::filled<Hash>(2), 40},
      here,
      shard,
      // None that anybody fetches.
      {ObjectKind::program, test::filled<Hash>(3), UINT64_MAX}};
  write_file_durably(fixture.cache.part(shard), Bytes(100, 1));
  UnitBytes unit = bytes_of_unit(assignment, work, fixture.cache);
  CHECK(unit.objects == 840);
  CHECK(unit.missing == 440);
  CHECK(unit.files == result_bytes(work));

  // Two checkpoints for a moment, or one and the update.
  const std::uint64_t values = parameter_count(work.model);
  CHECK(unit.files >= 2 * sizeof(float) * values * 2);
  work.optimizer.kind = OptimizerKind::adamw;
  CHECK(result_bytes(work) >= unit.files + 2 * sizeof(float) * values);
}

TEST_CASE_FIXTURE(Fixture, "what no unit needs goes first, the oldest first") {
  const ObjectRef old = put(ObjectKind::shard, 1, 10 * kKilo, 3);
  const ObjectRef snapshot = put(ObjectKind::snapshot, 2, 10 * kKilo, 2);
  const ObjectRef needed = put(ObjectKind::shard, 3, 10 * kKilo, 4);
  const ObjectRef last = put(ObjectKind::shard, 4, 10 * kKilo, 1);
  room.set_limit(50 * kKilo, {});
  room.claim(1, {20 * kKilo, 10 * kKilo, 0}, {needed.hash});
  CHECK(cache.contains(old));
  room.claim(2, {30 * kKilo, 20 * kKilo, 10 * kKilo}, {needed.hash});
  CHECK_FALSE(cache.contains(old));
  CHECK_FALSE(cache.contains(snapshot));
  CHECK(cache.contains(needed));
  CHECK(cache.contains(last));
}

TEST_CASE_FIXTURE(Fixture, "a unit that can never fit is refused, saying why") {
  write_file_durably(data / "client.log", Bytes(2 << 20, 1));
  room.set_limit(10 << 20, {});
  CHECK(refusal(7, {5 << 20, 5 << 20, 4 << 20}, ErrorKind::unsupported) ==
        "result 7: its files need 9 MB of disk, and other files of the client "
        "have 2 MB; the preference disk_mb allows 10");
  CHECK(refusal(7, {4 << 20, 4 << 20, 4 << 20}, ErrorKind::unsupported) ==
        "claimed");
}

TEST_CASE_FIXTURE(Fixture, "one that has to wait for others says so") {
  const UnitBytes unit{0, 0, 60 * kKilo};
  room.set_limit(130 * kKilo, {});
  room.claim(1, unit, {});
  CHECK(room.has_room(70 * kKilo));
  CHECK_FALSE(room.has_room(71 * kKilo));
  write_result(1, 50 * kKilo);  // of what was claimed
  CHECK(room.has_room(70 * kKilo));
  room.claim(2, unit, {});
  CHECK(refusal(3, {20 * kKilo, 0, 20 * kKilo}, ErrorKind::io)
            .starts_with("too little disk for one more result: 1 MB are "));
  // the first one is computed, its update smaller than it might have been
  room.release(1);
  CHECK(refusal(3, {20 * kKilo, 0, 20 * kKilo}, ErrorKind::io) == "claimed");
}

TEST_CASE_FIXTURE(Fixture, "a claim again counts what was written meanwhile") {
  const UnitBytes unit{0, 0, 60 * kKilo};
  room.set_limit(70 * kKilo, {});
  room.claim(1, unit, {});
  write_result(1, 60 * kKilo);
  room.claim(1, unit, {});
  CHECK_FALSE(room.has_room(11 * kKilo));
}

TEST_CASE_FIXTURE(Fixture, "a lower limit holds at once for what can go") {
  const ObjectRef old = put(ObjectKind::shard, 1, 10 * kKilo, 3);
  const ObjectRef newer = put(ObjectKind::snapshot, 2, 10 * kKilo, 2);
  const ObjectRef needed = put(ObjectKind::shard, 3, 10 * kKilo, 4);
  room.set_limit(20 * kKilo, {needed.hash});
  CHECK_FALSE(cache.contains(old));
  CHECK(cache.contains(newer));
  room.set_limit(1, {needed.hash});
  CHECK_FALSE(cache.contains(newer));
  CHECK(cache.contains(needed));
}

TEST_CASE_FIXTURE(Fixture, "without a limit the disk's reserve stays free") {
  const std::uint64_t all = free_space(data.path());
  const std::uint64_t half = all / 2;
  CHECK(refusal(1, {all, half, half}, ErrorKind::io)
            .starts_with("too little disk at " + data.path().string()));
  CHECK(refusal(1, {all, 0, 1000}, ErrorKind::io) == "claimed");
}

}  // namespace
}  // namespace quorate::client
