#include "server/presence.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using Ids = std::vector<HostId>;

Instant at(double seconds) {
  return Instant{Seconds(seconds)};
}

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST_CASE("hosts are here until they were silent for too long") {
  Presence presence;
  presence.hear(7, at(10));
  presence.hear(8, at(20));
  presence.hear(7, at(30));
  presence.hear(9, at(30));
  CHECK(presence.available_count() == 3);
  CHECK(sorted(presence.available(at(20))) == Ids{7, 8, 9});
  CHECK(sorted(presence.available(at(21))) == Ids{7, 9});
  CHECK(presence.is_available(8, at(20)));
  CHECK_FALSE(presence.is_available(8, at(21)));
  CHECK_FALSE(presence.is_available(99, at(0)));
  CHECK(presence.take_silent(at(20)).empty());
  CHECK(presence.take_silent(at(21)) == Ids{8});
  CHECK(presence.available_count() == 2);
  CHECK_FALSE(presence.is_available(8, at(0)));
  CHECK(sorted(presence.take_silent(at(31))) == Ids{7, 9});
  CHECK(presence.available_count() == 0);
  presence.hear(8, at(40));
  CHECK(presence.available_count() == 1);
}

TEST_CASE("a host that can have no work is here and not available") {
  Presence presence;
  presence.hear(7, at(10));
  presence.hear(8, at(10));
  presence.set_available(7, false);
  presence.set_available(7, false);
  presence.set_available(99, false);
  CHECK(presence.available_count() == 1);
  CHECK(presence.available(at(0)) == Ids{8});
  presence.hear(7, at(20));  // which says nothing about that
  CHECK_FALSE(presence.is_available(7, at(0)));
  CHECK(presence.take_silent(at(15)) == Ids{8});
  CHECK(presence.available_count() == 0);
  presence.set_available(7, true);
  CHECK(presence.available_count() == 1);
  presence.set_available(7, false);
  CHECK(presence.take_silent(at(99)) == Ids{7});
  CHECK(presence.available_count() == 0);
}

}  // namespace

TEST_CASE("who is silent for its lease is not active, nor at its shard") {
  test::ProjectFixture project({.quorum = 1});
  const test::Volunteer ann = project.join();
  const test::Volunteer ben = project.join();
  project.take(ann);
  ProjectState& state = project.state();
  ShardHosts& at_shards = project.run().shard_hosts;
  CHECK(state.count_active_hosts() == 2);
  CHECK(at_shards.count(0) == 1);
  project.clock.advance(project.settings.lease + Seconds(1));
  CHECK(state.active_hosts().empty());
  CHECK(at_shards.count(0) == 1);  // nobody has looked
  CHECK(state.count_active_hosts() == 0);
  CHECK(at_shards.count(0) == 0);
  project.heartbeat(ben, {});
  CHECK(state.active_hosts() == Ids{ben.host});
  CHECK(state.count_active_hosts() == 1);
  CHECK_FALSE(state.is_active(ann.host));
  // The house's workers are no volunteers.
  project.job([&] {
    state.hosts.touch(*state.hosts.host(state.house_host), project.clock.now(),
                      project.clock.unix_ms());
  });
  CHECK(state.count_active_hosts() == 1);
}

TEST_CASE("who can have no work leaves its shard at once") {
  test::ProjectFixture project({.quorum = 1});
  const test::Volunteer ann = project.join();
  project.take(ann);
  ProjectState& state = project.state();
  Host& host = *state.hosts.host(ann.host);
  state.set_available(host, false);
  CHECK(project.run().shard_hosts.count(0) == 0);
  CHECK_FALSE(state.is_active(ann.host));
  CHECK(state.count_active_hosts() == 0);
  state.set_available(host, true);
  CHECK(state.is_active(ann.host));
}

}  // namespace quorate
