#include "server/hosts/presence.h"

#include <algorithm>
#include <vector>

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
  CHECK(presence.count(at(20), at(0)).recent == 3);
  CHECK(sorted(presence.available(at(20))) == Ids{7, 8, 9});
  CHECK(sorted(presence.available(at(21))) == Ids{7, 9});
  CHECK(presence.is_available(8, at(20)));
  CHECK_FALSE(presence.is_available(8, at(21)));
  CHECK_FALSE(presence.is_available(99, at(0)));
  CHECK(presence.take_silent(at(20)).empty());
  CHECK(presence.take_silent(at(21)) == Ids{8});
  CHECK(presence.count(at(21), at(0)).recent == 2);
  CHECK_FALSE(presence.is_available(8, at(0)));
  CHECK(sorted(presence.take_silent(at(31))) == Ids{7, 9});
  CHECK(presence.count(at(31), at(0)).recent == 0);
  presence.hear(8, at(40));
  CHECK(presence.count(at(31), at(0)).recent == 1);
}

TEST_CASE("hosts that are quiet are here and not counted") {
  Presence presence;
  for (const int host : {7, 8, 9}) presence.hear(host, at(10.0 * host));
  CHECK(presence.count(at(81), at(0)).recent == 1);
  CHECK(sorted(presence.available(at(70))) == Ids{7, 8, 9});
  CHECK(presence.is_available(7, at(70)));
  presence.set_available(8, false);  // a quiet one
  CHECK(presence.count(at(81), at(0)).recent == 1);
  presence.hear(8, at(95));
  CHECK(presence.count(at(81), at(0)).recent == 1);
  presence.set_available(8, true);
  CHECK(presence.count(at(81), at(0)).recent == 2);
  presence.hear(7, at(95));
  CHECK(presence.count(at(81), at(0)).recent == 3);
  CHECK(presence.count(at(95), at(0)).recent == 2);
  CHECK(presence.take_silent(at(95)) == Ids{9});
  CHECK(presence.count(at(96), at(0)).recent == 0);
  CHECK(sorted(presence.take_silent(at(96))) == Ids{7, 8});
}

TEST_CASE("hosts grow quiet, then silent") {
  Presence presence;
  for (const int host : {1, 2, 3, 4}) presence.hear(host, at(10.0 * host));
  Presence::Counts counts = presence.count(at(30), at(20));
  CHECK(counts.recent == 2);
  CHECK(counts.quiet == 1);
  presence.set_available(2, false);
  CHECK(presence.count(at(30), at(20)).quiet == 0);
  presence.set_available(2, true);
  counts = presence.count(at(41), at(40));  // from recent to silent at once
  CHECK(counts.recent == 0);
  CHECK(counts.quiet == 1);
  CHECK(counts.silent == 3);
  CHECK(counts.all() == 4);
  CHECK(sorted(presence.available(at(0))) == Ids{1, 2, 3, 4});
  presence.hear(1, at(50));  // silent for long
  presence.hear(4, at(50));
  counts = presence.count(at(45), at(41));
  CHECK(counts.recent == 2);
  CHECK(counts.quiet == 0);
  CHECK(presence.take_silent(at(30)) == Ids{2});
  CHECK(presence.take_silent(at(31)) == Ids{3});
}

TEST_CASE("as many are gone as became quiet in the same time before") {
  CHECK(hosts_at_work({0, 0}) == 0);
  CHECK(hosts_at_work({1, 3}) == 1);
  CHECK(hosts_at_work({10, 0}) == 10);
  CHECK(hosts_at_work({10, 2}) == 8);
  CHECK(hosts_at_work({10, 5}) == 5);
  CHECK(hosts_at_work({10, 9}) == 5);
  CHECK(hosts_at_work({11, 9}) == 6);
}

TEST_CASE("a host that can have no work is here and not available") {
  Presence presence;
  presence.hear(7, at(10));
  presence.hear(8, at(10));
  presence.set_available(7, false);
  presence.set_available(7, false);
  presence.set_available(99, false);
  CHECK(presence.count(at(0), at(0)).recent == 1);
  CHECK(presence.available(at(0)) == Ids{8});
  presence.hear(7, at(20));  // which says nothing about that
  CHECK_FALSE(presence.is_available(7, at(0)));
  CHECK(presence.take_silent(at(15)) == Ids{8});
  CHECK(presence.count(at(15), at(0)).recent == 0);
  presence.set_available(7, true);
  CHECK(presence.count(at(15), at(0)).recent == 1);
  presence.set_available(7, false);
  CHECK(presence.take_silent(at(99)) == Ids{7});
  CHECK(presence.count(at(99), at(0)).recent == 0);
}

}  // namespace

TEST_CASE("who is silent for its lease is not active, nor at its shard") {
  test::ProjectFixture project({.quorum = 1});
  const test::Volunteer ann = project.join();
  const test::Volunteer ben = project.join();
  project.take(ann);
  ProjectState& state = project.state();
  ShardHosts& at_shards = project.run().shard_hosts;
  CHECK(state.count_hosts().at_work == 2);
  CHECK(at_shards.count(0) == 1);
  // Too late with a heartbeat: not counted on, and nothing is taken away.
  project.clock.advance(1.5 * project.settings.heartbeat + Seconds(1));
  CHECK(state.count_hosts().at_work == 0);
  CHECK(state.count_hosts().active == 2);
  CHECK(state.active_hosts() == Ids{ann.host, ben.host});
  CHECK(at_shards.count(0) == 1);
  project.heartbeat(ann, {});
  CHECK(state.count_hosts().at_work == 1);
  project.clock.advance(project.settings.lease + Seconds(1));
  CHECK(state.active_hosts().empty());
  CHECK(at_shards.count(0) == 1);  // nobody has looked
  CHECK(state.count_hosts().at_work == 0);
  CHECK(at_shards.count(0) == 0);
  project.heartbeat(ben, {});
  CHECK(state.active_hosts() == Ids{ben.host});
  CHECK(state.count_hosts().at_work == 1);
  CHECK_FALSE(state.is_active(ann.host));
  // The house's workers are no volunteers.
  project.job([&] {
    state.hosts.touch(*state.hosts.host(state.house_host), project.clock.now(),
                      project.clock.unix_ms());
  });
  CHECK(state.count_hosts().at_work == 1);
}

TEST_CASE("nobody is silent while the server does not listen") {
  test::ProjectFixture project({.quorum = 1});
  project.join();
  ProjectState& state = project.state();
  const Instant then = project.clock.now();
  project.clock.advance(2 * project.settings.lease);
  state.heard_until = [then] { return then; };
  CHECK(state.count_hosts().at_work == 1);
  CHECK(state.active_hosts().size() == 1);
  state.heard_until = [&project] { return project.clock.now(); };
  CHECK(state.count_hosts().active == 0);
}

TEST_CASE("a round has no unit for who has fallen silent") {
  test::ProjectFixture project({.rule = "diloco", .quorum = 1});
  std::vector<test::Volunteer> all;
  for (int i = 0; i < 8; ++i) all.push_back(project.join());
  project.clock.advance(1.5 * project.settings.heartbeat + Seconds(1));
  for (std::size_t i = 0; i < 7; ++i) project.heartbeat(all[i], {});
  project.take(all[0]);
  // Seven are heard, one fell silent: as many again will not be missed yet.
  CHECK(project.run().cursor.round_units == 6);
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
  CHECK(state.count_hosts().at_work == 0);
  state.set_available(host, true);
  CHECK(state.is_active(ann.host));
}

}  // namespace quorate
