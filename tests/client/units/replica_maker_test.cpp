#include "client/units/replica_maker.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "client/site/site_door.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/replica_exchange.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate::client {
namespace {

// A host that trained a replica, and a mate with the one that it met.
struct Fixture {
  Fixture() {
    const Bytes update = encode_update(work, test::sample_delta(work.model));
    std::vector<float> replica = initial_parameters(work.model, 1);
    const std::vector<float> other = initial_parameters(work.model, 2);
    from =
        put(cache, ObjectKind::snapshot, write_parameters(work.model, replica));
    own = put(cache, ObjectKind::update, update);
    met =
        put(of_mate, ObjectKind::snapshot, write_parameters(work.model, other));
    exchange_replica(replica, decode_update(work, update, "update"), other);
    next = write_parameters(work.model, replica);
    wanted = {ObjectKind::snapshot, sha256(next), next.size()};
    assignment.objects = {wanted};
    assignment.exchange = {from.hash, own.hash, met.hash};
    mates.learn({door.contact()});
  }

  static ObjectRef put(const ObjectCache& where, ObjectKind kind,
                       const Bytes& bytes) {
    const ObjectRef object{kind, sha256(bytes), bytes.size()};
    where.put(object, ByteParts(bytes));
    return object;
  }

  void make() {
    make_replica(mates, cache, assignment, work, {token, Seconds(0.1)});
  }

  const TrainingTask work = test::sample_codec_task(Codec::int8);
  test::TemporaryFolder folder;
  ObjectCache cache{folder / "own"};
  ObjectCache of_mate{folder / "mate"};
  SystemClock clock;
  std::stop_token token;
  SiteSettings settings{SiteSecret::generate(), {"127.0.0.1"}, 0};
  std::atomic<std::uint64_t> asked{0};  // for what the mate has not
  SiteDoor door{settings, [this](const Hash& hash) {
                  auto file = of_mate.snapshot(hash);
                  if (!file) ++asked;
                  return file;
                }};
  Mates mates{settings.secret, "", clock};
  ObjectRef from, own, met, wanted;
  Bytes next;
  Assignment assignment;
};

TEST_CASE_FIXTURE(Fixture, "a host makes its replica with what a mate has") {
  make();
  REQUIRE(cache.contains(wanted));
  CHECK(read_file(cache.path(wanted)) == next);
  CHECK(cache.contains(met));
  CHECK(mates.bytes_received() == met.size);
}

TEST_CASE_FIXTURE(Fixture,
                  "a mate that is just making its replica is waited for") {
  const fs::path file = of_mate.path(met);
  fs::rename(file, folder / "soon");
  std::jthread mate([&] {
    while (asked == 0) std::this_thread::yield();
    fs::rename(folder / "soon", file);
  });
  make_replica(mates, cache, assignment, work, {token, Seconds(60)});
  CHECK(cache.contains(wanted));
}

TEST_CASE_FIXTURE(Fixture, "what the host has itself is not asked for") {
  SUBCASE("the other replica is of this host, too") {
    cache.add(met, of_mate.path(met));
    make();
    CHECK(cache.contains(wanted));
  }
  SUBCASE("the snapshot is here") {
    cache.put(wanted, ByteParts(next));
    make();
  }
  SUBCASE("its own part is missing") {
    fs::remove(cache.path(own));
    make();
    CHECK(!cache.contains(wanted));
  }
  SUBCASE("the project says nothing of an exchange") {
    assignment.exchange.reset();
    make();
    CHECK(!cache.contains(wanted));
  }
  CHECK(mates.bytes_received() == 0);
}

TEST_CASE_FIXTURE(Fixture, "what did not come about so is not made") {
  SUBCASE("a mate gives other bytes") {
    Bytes spoilt = read_file(of_mate.path(met));
    spoilt.back() ^= 1;
    write_file_durably(of_mate.path(met), spoilt);
    make();
    CHECK(mates.status().at(0).state == "excluded");
  }
  SUBCASE("nobody has the other replica") {
    fs::remove(of_mate.path(met));
    make();
  }
  SUBCASE("the server took another way") {
    assignment.objects = {
        {ObjectKind::snapshot, test::filled<Hash>(9), wanted.size}};
    make();
    CHECK(!cache.contains(assignment.objects[0]));
  }
  CHECK(!cache.contains(wanted));
}

}  // namespace
}  // namespace quorate::client
