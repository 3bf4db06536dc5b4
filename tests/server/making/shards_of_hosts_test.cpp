// What the scheduler makes of the shards that hosts say they have: units of
// these, and nothing else.
#include <set>
#include <tuple>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

constexpr std::uint32_t kShards = 3;

// Three shards of 1280 steps, the last one of a few less: five units each.
ProjectOptions several_shards(std::uint32_t quorum = 1) {
  ProjectOptions options;
  options.shards = kShards;
  options.quorum = quorum;
  options.local_steps = 256;
  options.on_disk = true;
  return options;
}

Hash shard_of(ProjectFixture& project, const Assignment& assignment) {
  return project.unit_of(assignment.result).shard;
}

}  // namespace

TEST_CASE("a host that holds a shard gets units of it") {
  ProjectFixture project(several_shards());
  for (const ShardEntry& shard : project.run().shards) {
    Volunteer holder = project.join();
    CHECK(shard_of(project, project.ask_with(holder, {shard.hash})) ==
          shard.hash);
  }
}

TEST_CASE(
    "a host that says nothing stays with its shard, others go elsewhere") {
  ProjectFixture project(several_shards());
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  auto take = [&](const Volunteer& who) {
    Assignment assignment = project.ask_with(who, {});
    project.report(who, assignment);
    return shard_of(project, assignment);
  };
  const Hash first = take(ann);
  const Hash second = take(bob);
  CHECK(second != first);
  CHECK(take(ann) == first);
  CHECK(take(bob) == second);
  // Ann is gone: who comes next goes on with hers, though there is a new one.
  project.pass(Seconds(15));
  project.heartbeat(bob, {});
  project.heartbeat(carol, {});
  project.pass(Seconds(6));
  CHECK(take(carol) == first);
}

TEST_CASE("a host stays with its shard, though nobody is at another one") {
  ProjectFixture project(several_shards());
  Volunteer ann = project.join(), bob = project.join();
  const auto take = [&](const Volunteer& who, const std::vector<Hash>& shards) {
    Assignment assignment = project.ask_with(who, shards);
    project.report(who, assignment);
    return shard_of(project, assignment);
  };
  const std::vector<ShardEntry>& shards = project.run().shards;
  const Hash a = shards[0].hash, b = shards[1].hash;
  CHECK(take(ann, {a}) == a);
  CHECK(take(ann, {a}) == a);
  CHECK(take(bob, {b}) == b);
  // Bob is gone. More is left of his shard, but Ann has her own.
  project.pass(Seconds(15));
  project.heartbeat(ann, {});
  project.pass(Seconds(6));
  CHECK(take(ann, {}) == a);
}

TEST_CASE("shards that nobody knows, or that are done, change nothing") {
  ProjectFixture project(several_shards());
  Volunteer ann = project.join(), bob = project.join();
  const Hash first = shard_of(project, project.ask_with(ann, {}));
  for (int i = 1; i < 5; ++i) project.ask_with(ann, {});
  const std::vector<Hash> claims = {sha256(as_bytes("made up")), first};
  CHECK(shard_of(project, project.ask_with(bob, claims)) != first);
}

TEST_CASE("whom a replica goes to, no claim decides") {
  ProjectFixture project(several_shards(2));
  Volunteer ann = project.join(), bob = project.join();
  const Hash a = project.run().shards[0].hash;
  const Hash b = project.run().shards[1].hash;
  Assignment oldest = project.ask_with(ann, {a});
  for (int i = 1; i < 5; ++i) project.ask_with(ann, {});
  Assignment newest = project.ask_with(ann, {b});
  REQUIRE(shard_of(project, oldest) == a);
  REQUIRE(shard_of(project, newest) == b);
  // All wait for a partner, and are anybody's: the oldest goes first.
  for (ResultId id : project.state().feeder.unsent()) {
    project.state().reservations.release(id);
  }
  Assignment replica = project.ask_with(bob, {b});
  CHECK(project.unit_of(replica.result).id ==
        project.unit_of(oldest.result).id);
}

TEST_CASE("what is handed out stays so when the server dies") {
  ProjectFixture project(several_shards());
  const Hash b = project.run().shards[1].hash;
  std::set<std::tuple<std::uint32_t, std::uint32_t>> seen;
  std::uint64_t steps = 0;
  auto take = [&](const std::vector<Hash>& shards) {
    Volunteer fresh = project.join();
    Assignment assignment = project.ask_with(fresh, shards);
    const SampleRange range =
        project.state().feeder.find_by_result(assignment.result)->task->range;
    CHECK(seen.emplace(range.shard_index, range.first).second);
    steps += range.steps;
    project.report(fresh, assignment);
  };
  take({b});
  take({});
  take({b});
  project.reopen();
  take({});
  // Made in a transaction that is lost: made again later.
  Volunteer eve = project.join();
  project.crash_during([&] {
    WorkWish request;
    request.want = 1;
    project.daemons().scheduler.request_work(eve.host, request,
                                             [](WorkAnswer) {});
  });
  while (seen.size() < kShards * 5) {
    take(seen.size() % 2 == 0 ? std::vector<Hash>{b} : std::vector<Hash>{});
    if (seen.size() % 4 == 0) project.reopen();
  }
  CHECK(steps == project.run().progress.epoch_steps());
  CHECK(project.assimilated().size() == kShards * 5);
  CHECK(project.ask(project.join()).assignments.empty());
  check_ledger(project);
}

}  // namespace quorate
