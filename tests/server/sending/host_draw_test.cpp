#include "server/sending/host_draw.h"

#include <set>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"
#include "tests/support/samples.h"

namespace quorate {

using test::ProjectFixture;
using test::Volunteer;

namespace {

WaitingHosts who_wait(const std::vector<HostId>& hosts) {
  WaitingHosts waiting;
  for (HostId id : hosts) waiting[id];
  return waiting;
}

}  // namespace

TEST_CASE("of hosts that wait, those with nothing to do are drawn") {
  ProjectFixture project;
  Volunteer maker = project.join(), busy = project.join(),
            idle = project.join();
  Assignment one = project.take(busy);
  Assignment partner = project.take(maker);
  Assignment other = project.ask(maker, 1, {partner.result}).assignments.at(0);
  REQUIRE(project.unit_of(one.result).id != project.unit_of(other.result).id);
  const LiveUnit& live =
      *project.state().feeder.find(project.unit_of(other.result).id);
  ResultId unsent = live.results.back().id;
  REQUIRE(live.results.back().server_state == ServerState::unsent);
  Reservations& reservations = project.state().reservations;
  const std::set<ResultId> kept = reservations.kept_for(idle.host);
  for (ResultId id : kept) reservations.release(id);
  const WaitingHosts waiting = who_wait({busy.host, idle.host});
  for (int i = 0; i < 32; ++i) {
    CHECK(draw_host_for(project.state(), live, unsent, waiting) == idle.host);
  }
  // With nobody idle, anybody who suits: not the maker.
  for (int i = 0; i < 32; ++i) {
    auto host = draw_host_for(project.state(), live, unsent, {});
    CHECK((host == busy.host || host == idle.host));
  }
}

TEST_CASE("who is kept one replica is not drawn for another") {
  ProjectFixture project({.quorum = 3});
  Volunteer maker = project.join(), ann = project.join();
  Volunteer second_machine = project.join(ann);
  Assignment made = project.take(maker);
  const LiveUnit& live =
      *project.state().feeder.find(project.unit_of(made.result).id);
  REQUIRE(live.results.size() == 3);
  Reservations& reservations = project.state().reservations;
  reservations.keep(live.results[1].id, ann.host, Instant::max());
  reservations.release(live.results[2].id);
  const WaitingHosts waiting = who_wait({second_machine.host});
  ResultId third = live.results[2].id;
  CHECK_FALSE(draw_host_for(project.state(), live, third, waiting));
  reservations.release(live.results[1].id);
  CHECK(draw_host_for(project.state(), live, third, waiting) ==
        second_machine.host);
}

TEST_CASE("of many hosts that wait none is kept two replicas") {
  ProjectFixture project(test::ProjectOptions{.local_steps = 1, .epochs = 9});
  project.settings.max_results_per_host = 100;
  std::vector<HostId> hosts;
  for (int i = 0; i < 60; ++i) hosts.push_back(project.join().host);
  const WaitingHosts waiting = who_wait(hosts);
  Reservations& reservations = project.state().reservations;
  std::vector<const LiveUnit*> units;
  for (const Assignment& made : project.ask(project.join(), 60).assignments) {
    units.push_back(
        project.state().feeder.find(project.unit_of(made.result).id));
    reservations.release(units.back()->results.at(1).id);
  }
  REQUIRE(units.size() == hosts.size());
  std::set<HostId> drawn;
  for (const LiveUnit* live : units) {
    ResultId partner = live->results.at(1).id;
    auto host = draw_host_for(project.state(), *live, partner, waiting);
    REQUIRE(host.has_value());
    CHECK(waiting.contains(*host));
    CHECK(drawn.insert(*host).second);
    reservations.keep(partner, *host, Instant::max());
  }
}

TEST_CASE("a unit's results are never drawn for one block of addresses") {
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join(), bob = project.join();
  HostTable& hosts = project.state().hosts;
  hosts.note_block(ann.host, "c00002", project.clock.now());
  hosts.note_block(eve.host, "c00002", project.clock.now());
  hosts.note_block(bob.host, "c00003", project.clock.now());
  Assignment first = project.take(ann);
  for (ResultId id : project.state().feeder.unsent()) {
    project.state().reservations.release(id);
  }
  WorkunitId unit = project.unit_of(first.result).id;
  for (const Assignment& other : project.ask(eve, 4).assignments) {
    CHECK(project.unit_of(other.result).id != unit);
  }
  LiveUnit& live = *project.state().feeder.find(unit);
  ResultId unsent = live.results.back().id;
  for (int i = 0; i < 20; ++i) {
    CHECK(draw_host_for(project.state(), live, unsent, {}) == bob.host);
  }
  project.settings.trust_distinct_addresses = false;
  Volunteer mate = project.join();
  hosts.note_block(mate.host, "c00002", project.clock.now());
  CHECK(project.unit_of(project.take(mate).result).id == unit);
}

TEST_CASE("a unit's results are never drawn for two hosts of a site") {
  ProjectFixture project;
  project.settings.trust_distinct_addresses = false;
  Volunteer ann = project.join(), eve = project.join(), bob = project.join();
  Sites& sites = project.state().sites;
  const Instant now = project.state().clock.now();
  sites.note(ann.host, test::filled<Hash>(1), "a", now);
  sites.note(eve.host, test::filled<Hash>(1), "b", now);
  sites.note(bob.host, test::filled<Hash>(2), "c", now);
  Assignment first = project.take(ann);
  for (ResultId id : project.state().feeder.unsent()) {
    project.state().reservations.release(id);
  }
  LiveUnit& live =
      *project.state().feeder.find(project.unit_of(first.result).id);
  for (const Assignment& other : project.ask(eve, 4).assignments) {
    CHECK(project.unit_of(other.result).id != live.unit.id);
  }
  ResultId unsent = live.results.back().id;
  for (int i = 0; i < 20; ++i) {
    CHECK(draw_host_for(project.state(), live, unsent, {}) == bob.host);
  }
}

}  // namespace quorate
