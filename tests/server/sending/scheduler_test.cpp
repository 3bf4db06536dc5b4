// Who gets which result, and for how long it is his.
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "server/judging/consequences.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::Volunteer;

WorkWish waiting_request(Seconds wait) {
  WorkWish request;
  request.want = 1;
  request.wait = wait;
  return request;
}

// Of several hosts that wait, the one that has been answered with work.
template <class Answers>
std::set<std::size_t> answered(const Answers& answers) {
  std::set<std::size_t> who;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]->has_value() && !(*answers[i])->assignments.empty()) {
      who.insert(i);
    }
  }
  return who;
}

}  // namespace

TEST_CASE("a silent host's result goes to another") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment lost = project.take(ann);
  Assignment kept = project.take(bob);
  WorkunitId unit = project.unit_of(lost.result).id;
  project.pass(Seconds(15));
  project.heartbeat(bob, {kept.result});
  project.heartbeat(carol, {});
  project.pass(Seconds(6));

  Result result = project.result(lost.result);
  CHECK(result.server_state == ServerState::over);
  CHECK(result.outcome == ResultOutcome::no_reply);
  CHECK_FALSE(result.reason.empty());
  CHECK(project.host(ann).errors == 1);
  CHECK(project.host(bob).errors == 0);
  CHECK(project.result(kept.result).server_state == ServerState::in_progress);
  // Ann had her turn with this unit; Carol has not.
  CHECK(project.unit_of(project.take(ann).result).id != unit);
  Assignment again = project.take(carol);
  CHECK(project.unit_of(again.result).id == unit);
  project.report(bob, kept);
  project.report(carol, again);
  CHECK(project.unit_of(kept.result).state == WorkunitState::assimilated);
}

TEST_CASE("who lost a result gets another of the unit if nobody else can") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment lost = project.take(ann);
  Assignment kept = project.take(bob);
  WorkunitId unit = project.unit_of(lost.result).id;
  project.report(bob, kept);
  project.pass(Seconds(21));
  REQUIRE(project.result(lost.result).outcome == ResultOutcome::no_reply);
  project.heartbeat(bob, {});

  // Not while she computes it still.
  WorkAnswer other = project.ask(ann, 1, {lost.result});
  REQUIRE(other.assignments.size() == 1);
  CHECK(project.unit_of(other.assignments[0].result).id != unit);
  project.report(ann, other.assignments[0]);
  Assignment again = project.take(ann);
  CHECK(project.unit_of(again.result).id == unit);
  project.report(ann, again);
  CHECK(project.unit_of(kept.result).state == WorkunitState::assimilated);
  // However late the first comes, it changes nothing.
  project.report(ann, lost);
  CHECK(project.result(lost.result).validate_state != ValidateState::invalid);
  check_ledger(project);
}

TEST_CASE("a result that comes after its lease may still make the quorum") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment late = project.take(ann);
  Assignment kept = project.take(bob);
  project.pass(Seconds(15));
  project.heartbeat(bob, {kept.result});
  project.pass(Seconds(6));
  REQUIRE(project.result(late.result).outcome == ResultOutcome::no_reply);

  CHECK(project.heartbeat(ann, {late.result}).cancel.empty());
  CHECK(project.report(ann, late).accepted);
  project.report(bob, kept);
  CHECK(project.result(late.result).validate_state == ValidateState::valid);
  CHECK(project.result(late.result).reason.empty());
  CHECK(project.unit_of(kept.result).state == WorkunitState::assimilated);
}

TEST_CASE("heartbeats that name a result keep it, others do not") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment named = project.take(ann);
  Assignment unnamed = project.take(bob);
  for (int i = 0; i < 5; ++i) {
    project.pass(Seconds(10));
    project.heartbeat(ann, {named.result});
    project.heartbeat(bob, {});
  }
  CHECK(project.result(named.result).server_state == ServerState::in_progress);
  CHECK(project.result(unnamed.result).outcome == ResultOutcome::no_reply);
}

TEST_CASE("nobody renews another host's result") {
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join();
  Assignment mine = project.take(ann);
  project.pass(Seconds(15));
  WorkAnswer reply = project.heartbeat(eve, {mine.result});
  CHECK(reply.cancel == std::vector<ResultId>{mine.result});
  project.pass(Seconds(6));
  CHECK(project.result(mine.result).outcome == ResultOutcome::no_reply);
}

TEST_CASE("a result that its host lost is sent again, with the same nonce") {
  ProjectFixture project;
  Volunteer ann = project.join();
  Assignment first = project.take(ann);
  WorkAnswer again = project.ask(ann);
  REQUIRE(again.assignments.size() == 1);
  CHECK(again.assignments[0].result == first.result);
  CHECK(again.assignments[0].nonce == first.nonce);
  CHECK(again.assignments[0].objects == first.objects);
  // Who still holds it gets another.
  WorkAnswer more = project.ask(ann, 1, {first.result});
  REQUIRE(more.assignments.size() == 1);
  CHECK(more.assignments[0].result != first.result);
}

TEST_CASE("a result that a host gives up goes to another") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment mine = project.take(ann);
  Assignment kept = project.take(bob);
  project.give_up(bob, mine.result, "not mine");  // and is not believed
  CHECK(project.result(mine.result).server_state == ServerState::in_progress);
  project.give_up(ann, mine.result, "out of memory");
  Result result = project.result(mine.result);
  CHECK(result.outcome == ResultOutcome::client_error);
  CHECK(result.reason == "out of memory");
  CHECK(project.events("result_failed") == 1);
  Assignment again = project.take(carol);
  CHECK(project.unit_of(again.result).id == project.unit_of(kept.result).id);
}

TEST_CASE("a replica is kept for the host that was drawn, then drawn again") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment first = project.take(ann);
  WorkunitId unit = project.unit_of(first.result).id;
  ResultId second = *project.state().feeder.unsent().begin();
  HostId drawn = project.state().reservations.host(second).value();
  CHECK(drawn != ann.host);
  const Volunteer& chosen = drawn == bob.host ? bob : carol;
  const Volunteer& other = drawn == bob.host ? carol : bob;
  // The other one asks first and gets another unit.
  Result others = project.result(project.ask(other).assignments.at(0).result);
  CHECK(others.workunit != unit);

  SUBCASE("the drawn host comes") {
    CHECK(project.ask(chosen).assignments.at(0).result == second);
  }
  SUBCASE("it does not come: another draw, among both") {
    std::set<HostId> seen;
    for (int i = 0; i < 200 && seen.size() < 2; ++i) {
      project.pass(Seconds(2));
      for (const Volunteer& who : {ann, bob, carol}) project.heartbeat(who, {});
      seen.insert(project.state().reservations.host(second).value());
    }
    CHECK(seen == std::set<HostId>{bob.host, carol.host});
  }
  SUBCASE("nobody else is active: whoever suits and asks gets it") {
    project.pass(Seconds(21));
    REQUIRE(project.state().active_hosts().empty());
    ResultId unsent = 0;
    for (const Result& r : project.results_of_unit(unit)) {
      if (r.server_state == ServerState::unsent) unsent = r.id;
    }
    REQUIRE(unsent != 0);
    Volunteer dave = project.join();
    CHECK(project.unit_of(project.take(dave).result).id == unit);
  }
}

TEST_CASE("two replicas of a unit are not kept for one user") {
  ProjectFixture project({.quorum = 3});
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  project.take(ann);
  std::set<HostId> kept;
  for (ResultId id : project.state().feeder.unsent()) {
    kept.insert(project.state().reservations.host(id).value());
  }
  CHECK(kept == std::set<HostId>{bob.host, carol.host});
}

TEST_CASE("a host that waits is woken by a replica for it") {
  ProjectFixture project({.local_steps = 33});  // one unit, two replicas
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment a = project.take(ann);
  std::vector<ProjectFixture::Answer> waiting;
  Assignment b = project.take(bob);
  waiting.push_back(project.ask_later(carol, waiting_request(Seconds(25))));
  CHECK_FALSE(waiting[0]->has_value());
  project.give_up(bob, b.result, "overheated");
  REQUIRE(waiting[0]->has_value());
  REQUIRE((*waiting[0])->assignments.size() == 1);
  Assignment c = (*waiting[0])->assignments[0];
  CHECK(project.unit_of(c.result).id == project.unit_of(a.result).id);
}

TEST_CASE("hosts that wait get a unit's replicas at once, whoever came first") {
  ProjectFixture project;
  project.job([&] { project.run().run.state = RunState::paused; });
  Volunteer ann = project.join(), bob = project.join();
  std::vector<ProjectFixture::Answer> waiting = {
      project.ask_later(bob, waiting_request(Seconds(25))),
      project.ask_later(ann, waiting_request(Seconds(25)))};
  CHECK(answered(waiting).empty());
  project.job([&] {
    project.run().run.state = RunState::running;
    project.daemons().scheduler.wake();
  });
  CHECK(answered(waiting) == std::set<std::size_t>{0, 1});
}

TEST_CASE("a wait ends empty after its time") {
  ProjectFixture project({.local_steps = 33});
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  project.take(ann);
  project.take(bob);
  auto waiting = project.ask_later(carol, waiting_request(Seconds(10)));
  project.pass(Seconds(9));
  CHECK_FALSE(waiting->has_value());
  project.pass(Seconds(1));
  REQUIRE(waiting->has_value());
  CHECK((*waiting)->assignments.empty());
}

TEST_CASE("a host that waits longer than a lease counts as active") {
  ProjectFixture project({.local_steps = 33});
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  auto waiting = project.ask_later(carol, waiting_request(Seconds(25)));
  for (int i = 0; i < 12; ++i) {
    project.pass(Seconds(2));
    project.heartbeat(ann, {a.result});
    project.heartbeat(bob, {b.result});
  }
  CHECK(project.state().active_hosts() ==
        std::vector<HostId>{ann.host, bob.host, carol.host});
  CHECK_FALSE(waiting->has_value());
}

TEST_CASE("a host that asks anew has given up its first question") {
  ProjectFixture project({.local_steps = 33});
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  project.take(ann);
  Assignment b = project.take(bob);
  auto first = project.ask_later(carol, waiting_request(Seconds(25)));
  auto second = project.ask_later(carol, waiting_request(Seconds(25)));
  REQUIRE(first->has_value());
  CHECK((*first)->assignments.empty());
  project.give_up(bob, b.result, "");
  REQUIRE(second->has_value());
  CHECK((*second)->assignments.size() == 1);
}

TEST_CASE("a host is told what to drop and what is closed") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  project.report(ann, a);
  // Reported but not judged: its payload may be needed again.
  WorkAnswer reply = project.heartbeat(ann, {a.result});
  CHECK(reply.closed.empty());
  CHECK(reply.cancel.empty());
  project.report(bob, b);
  Assignment given_up = project.take(ann);
  project.give_up(ann, given_up.result, "");
  reply = project.heartbeat(ann, {a.result, given_up.result, 987654});
  CHECK(reply.closed == std::vector<ResultId>{a.result});
  CHECK(reply.cancel == std::vector<ResultId>{given_up.result, 987654});
  // Another host's result is none of its business.
  reply = project.heartbeat(ann, {b.result});
  CHECK(reply.cancel == std::vector<ResultId>{b.result});
}

TEST_CASE("of what is not a host's a few are looked up, the rest next time") {
  ProjectFixture project;
  const Volunteer ann = project.join();
  std::vector<ResultId> unknown(256);
  std::iota(unknown.begin(), unknown.end(), ResultId{987654});
  CHECK(project.heartbeat(ann, unknown).cancel.size() == 32);
}

TEST_CASE("nothing of a paused run is sent, also no replica that is left") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment first = project.take(ann);
  project.job([&] { project.run().run.state = RunState::paused; });
  CHECK(project.ask(bob).assignments.empty());
  project.job([&] { project.run().run.state = RunState::running; });
  CHECK(project.unit_of(project.take(bob).result).id ==
        project.unit_of(first.result).id);
}

TEST_CASE("a host holds no more results than the settings allow") {
  ProjectFixture project({.local_steps = 1});
  project.settings.max_results_per_host = 3;
  Volunteer ann = project.join();
  CHECK(project.ask(ann, 64).assignments.size() == 3);
}

TEST_CASE("a host that nobody knows yet holds two results") {
  ProjectFixture project(
      {.local_steps = 1, .house_workers = 1, .proven_after = 1});
  const Volunteer ann = project.join(), bob = project.join();
  CHECK(project.ask(ann, 64).assignments.size() == 2);
  project.job([&] {
    Consequences(project.state())
        .trust(*project.state().hosts.host(bob.host), "for this test");
  });
  CHECK(project.ask(bob, 64).assignments.size() == 16);
}

TEST_CASE("a host that waits with all it may hold is woken when it reports") {
  ProjectFixture project({.local_steps = 1});
  project.settings.max_results_per_host = 1;
  const Volunteer ann = project.join();
  const Assignment first = project.take(ann);
  WorkWish wish = waiting_request(Seconds(25));
  wish.holding = {first.result};
  const auto waiting = project.ask_later(ann, wish);
  CHECK_FALSE(waiting->has_value());
  project.report(ann, first);  // its unit goes on waiting for another user
  REQUIRE(waiting->has_value());
  CHECK((*waiting)->assignments.size() == 1);
}

TEST_CASE("without the scheduler's role nobody who waits is served") {
  ProjectFixture project({.roles = parse_roles("validator,assimilator")});
  project.job([&] { project.run().run.state = RunState::paused; });
  Volunteer ann = project.join();
  auto waiting = project.ask_later(ann, waiting_request(Seconds(25)));
  project.job([&] {
    project.run().run.state = RunState::running;
    project.daemons().scheduler.wake();
  });
  CHECK_FALSE(waiting->has_value());
}

}  // namespace quorate
