// One-by-one training through the daemons: quorum, disagreement, late results.
#include <doctest/doctest.h>

#include "server/hosts/credit.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::lie;
using test::ProjectFixture;
using test::Volunteer;

}  // namespace

TEST_CASE("two users who agree make a version, a ledger entry and credit") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  CHECK(first.result != second.result);
  CHECK(first.nonce != second.nonce);
  CHECK(first.objects == second.objects);

  CHECK(project.report(ann, first).accepted);
  CHECK(project.run().model.version() == 0);
  CHECK(project.result(first.result).validate_state == ValidateState::init);
  CHECK(project.report(bob, second).accepted);

  CHECK(project.run().model.version() == 1);
  Workunit unit = project.unit_of(first.result);
  CHECK(unit.state == WorkunitState::assimilated);
  CHECK(unit.canonical_result == first.result);
  std::vector<ResultAssimilated> entries = project.assimilated();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].version_before == 0);
  CHECK(entries[0].version_after == 1);
  CHECK(entries[0].result == first.result);
  CHECK(entries[0].host == ann.key.public_key());
  CHECK(entries[0].samples == 64);
  CHECK(entries[0].staleness == 0);
  double credit = credit_of(unit.operations);
  CHECK(credit > 0);
  for (const Volunteer& who : {ann, bob}) {
    CHECK(project.host(who).valid == 1);
    CHECK(project.host(who).credit == credit);
    CHECK(project.state().hosts.user(who.user)->credit == credit);
  }
  CHECK(project.state().feeder.find(unit.id) == nullptr);
  check_ledger(project);
}

TEST_CASE("a user's machines never get two results of one unit") {
  ProjectFixture project;
  Volunteer desktop = project.join();
  Volunteer laptop = project.join(desktop);
  Assignment first = project.take(desktop);
  Assignment other = project.take(laptop);
  CHECK(project.unit_of(first.result).id != project.unit_of(other.result).id);
  // Nor do their two words count for two.
  project.report(desktop, first);
  project.report(laptop, other);
  CHECK(project.run().model.version() == 0);
}

TEST_CASE("a quorum of one takes the first result") {
  ProjectFixture project({.quorum = 1});
  Volunteer ann = project.join();
  project.report(ann, project.take(ann));
  CHECK(project.run().model.version() == 1);
}

TEST_CASE("a third user settles a disagreement; the liar is told why") {
  ProjectFixture project;
  Volunteer ann = project.join(), mallory = project.join(),
            carol = project.join();
  Assignment honest = project.take(ann);
  Assignment false_one = project.take(mallory);
  project.report(ann, honest);
  CHECK(project.report(mallory, false_one, lie()).accepted);
  Workunit unit = project.unit_of(honest.result);
  CHECK(unit.state == WorkunitState::open);
  CHECK(project.results_of_unit(unit.id).size() == 3);

  // Neither of the two gets the third replica.
  CHECK(project.unit_of(project.take(ann).result).id != unit.id);
  Assignment third = project.take(carol);
  CHECK(project.unit_of(third.result).id == unit.id);
  project.report(carol, third);

  CHECK(project.unit_of(honest.result).state == WorkunitState::assimilated);
  CHECK(project.assimilated().at(0).result == honest.result);
  Result refused = project.result(false_one.result);
  CHECK(refused.validate_state == ValidateState::invalid);
  CHECK(refused.reason.find("disagrees with result") != std::string::npos);
  CHECK(refused.credit == 0);
  CHECK(project.host(mallory).invalid == 1);
  CHECK(project.host(mallory).credit == 0);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.host(carol).valid == 1);
  CHECK(project.events("result_rejected") == 1);
  check_ledger(project);
}

TEST_CASE("two liars who agree with each other outvote one honest user") {
  // The limit of a plain quorum, which docs/validation.md names.
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join(),
            mallory = project.join();
  project.report(ann, project.take(ann));
  Assignment first = project.take(eve);
  project.report(eve, first, lie());
  Assignment second = project.take(mallory);
  project.report(mallory, second, lie());
  CHECK(project.assimilated().at(0).host == eve.key.public_key());
  CHECK(project.host(ann).invalid == 1);
}

TEST_CASE("a result that comes after the verdict is judged by the canonical") {
  // One unit, the run's last: a house worker takes the replica that nobody has.
  ProjectFixture project({.local_steps = 33, .house_workers = 1});
  Volunteer ann = project.join();
  Assignment late = project.take(ann);
  Assignment decisive = project.take_as_house();
  REQUIRE(project.unit_of(decisive.result).id ==
          project.unit_of(late.result).id);
  project.report(project.house(), decisive);
  CHECK(project.run().model.version() == 1);
  // The unit is assimilated, but its result is still out.
  CHECK(project.state().feeder.find_by_result(late.result) != nullptr);

  SUBCASE("an honest one is credited and changes nothing else") {
    CHECK(project.report(ann, late).accepted);
    CHECK(project.result(late.result).validate_state == ValidateState::valid);
    CHECK(project.host(ann).credit > 0);
  }
  SUBCASE("a false one is rejected") {
    CHECK(project.report(ann, late, lie()).accepted);
    Result refused = project.result(late.result);
    CHECK(refused.validate_state == ValidateState::invalid);
    CHECK(refused.reason.find("which a quorum had chosen") !=
          std::string::npos);
    CHECK(project.host(ann).credit == 0);
  }
  SUBCASE("one that never comes is forgotten with its lease") {
    project.pass(Seconds(21));
    CHECK(project.result(late.result).outcome == ResultOutcome::no_reply);
  }
  CHECK(project.run().model.version() == 1);
  CHECK(project.assimilated().size() == 1);
  CHECK(project.state().feeder.find_by_result(late.result) == nullptr);
  check_ledger(project);
}

TEST_CASE("a house worker breaks a tie that volunteers cannot") {
  ProjectFixture project({.house_workers = 1});
  Volunteer ann = project.join(), mallory = project.join();
  Assignment honest = project.take(ann);
  Assignment false_one = project.take(mallory);
  CHECK_FALSE(project.has_house_work());
  project.report(ann, honest);
  project.report(mallory, false_one, lie());
  // Both have had it: nobody else is there.
  Assignment decisive = project.take_as_house();
  REQUIRE(project.unit_of(decisive.result).id ==
          project.unit_of(honest.result).id);
  CHECK_FALSE(project.has_house_work());
  project.report(project.house(), decisive);
  CHECK(project.run().model.version() == 1);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.host(mallory).invalid == 1);
  check_ledger(project);
}

TEST_CASE("two who disagree are settled by a house worker") {
  ProjectFixture project({.house_workers = 1});
  std::vector<Volunteer> users;
  for (int i = 0; i < 3; ++i) users.push_back(project.join());
  WorkunitId unit = 0;
  for (std::uint8_t i = 0; i < 2; ++i) {
    Assignment mine = project.take(users[i]);
    if (unit == 0) unit = project.unit_of(mine.result).id;
    REQUIRE(project.unit_of(mine.result).id == unit);
    project.report(users[i], mine, i == 0 ? test::Forgery{} : lie(i));
  }
  // A volunteer is there, but could be a friend of one of them.
  CHECK(project.unit_of(project.take(users[2]).result).id != unit);
  Assignment decisive = project.take_as_house();
  REQUIRE(project.unit_of(decisive.result).id == unit);
  project.report(project.house(), decisive);
  CHECK(project.host(users[0]).valid == 1);
  CHECK(project.host(users[1]).invalid == 1);
}

TEST_CASE("with no volunteer active, a house worker trains by itself") {
  ProjectFixture project({.house_workers = 1});
  for (int unit = 0; unit < 5; ++unit) {
    project.report(project.house(), project.take_as_house());
  }
  CHECK_FALSE(project.has_house_work());
  CHECK(project.run().run.state == RunState::finished);
  CHECK(project.run().model.version() == 5);
  check_ledger(project);
}

TEST_CASE("a unit fails after too many errors and does not hold up the run") {
  ProjectFixture project({.local_steps = 33});  // one unit
  WorkunitId unit = 0;
  for (int i = 0; i < 40; ++i) {
    Volunteer who = project.join();
    WorkAnswer reply = project.ask(who);
    if (reply.assignments.empty()) break;
    Assignment assignment = reply.assignments.front();
    if (unit == 0) unit = project.unit_of(assignment.result).id;
    project.give_up(who, assignment.result, "out of memory");
    CHECK(project.host(who).errors == 1);
  }
  CHECK(project.state().store.workunit(unit)->state == WorkunitState::failed);
  CHECK(project.results_of_unit(unit).size() <= 24);
  CHECK(project.events("unit_failed") == 1);
  CHECK(project.run().run.state == RunState::finished);
  CHECK(project.run().model.version() == 0);
  check_ledger(project);
}

TEST_CASE("a diverged unit pauses the run with advice and credits its hosts") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment first = project.take(ann), second = project.take(bob);
  project.report(ann, first, test::divergence());
  project.report(bob, second, test::divergence());
  CHECK(project.unit_of(first.result).state == WorkunitState::diverged);
  CHECK(project.run().run.state == RunState::paused);
  CHECK(project.run().run.state_reason.find("--lr") != std::string::npos);
  CHECK(project.state().store.runs().at(0).state == RunState::paused);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.host(ann).credit > 0);
  CHECK(project.assimilated().empty());
  CHECK(project.ask(ann).assignments.empty());  // nothing while it is paused
}

}  // namespace quorate
