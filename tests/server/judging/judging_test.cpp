// Where somebody's honesty is in question, somebody trusted looks, whatever
// becomes of the unit.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/judging/trust_scene.h"
#include "tests/server/merging/revoking.h"
#include "tests/server/project_fixture.h"
#include "validator/replay.h"

namespace quorate {
namespace {

using test::become_proven;
using test::check_ledger;
using test::Forgery;
using test::house_works;
using test::late_unit;
using test::LateUnit;
using test::lie;
using test::ProjectFixture;
using test::ProjectOptions;
using test::revoke;
using test::trusting;
using test::Volunteer;

Forgery on_device(const std::string& device) {
  Forgery forgery;
  forgery.header = [device](ResultHeader& header) { header.device = device; };
  return forgery;
}

}  // namespace

TEST_CASE("a side that is enough for a quorum does not decide a dispute") {
  ProjectFixture project(trusting(1, 0));
  Volunteer ann = project.join(), eve = project.join();
  become_proven(project, ann);
  become_proven(project, eve);
  Assignment anns = project.take(ann);
  // Proven on another device than this: a partner is wanted.
  project.state().trust.reset(ann.host);
  project.job([&] {
    Consequences(project.state())
        .pardon(*project.state().hosts.host(ann.host), "for this test");
  });
  project.report(ann, anns, on_device("another"));
  REQUIRE(project.unit_of(anns.result).state == WorkunitState::open);
  Assignment hers = project.take(eve);
  REQUIRE(project.unit_of(hers.result).id == project.unit_of(anns.result).id);
  project.report(eve, hers, lie());
  REQUIRE(project.unit_of(hers.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.result(anns.result).validate_state == ValidateState::valid);
  CHECK(project.host(eve).false_results == 1);
  CHECK(project.host(ann).false_results == 0);
}

TEST_CASE("who is proven on one device only has a proven partner on another") {
  ProjectFixture project(trusting(1, 0));
  Volunteer ann = project.join(), bob = project.join(), carl = project.join();
  Assignment first = project.take(ann);
  project.report(ann, first);
  house_works(project);
  REQUIRE(project.state().trust.standing(project.host(ann)) ==
          Standing::proven);
  become_proven(project, bob);
  Assignment anns = project.take(ann);
  project.heartbeat(bob, {});
  project.heartbeat(carl, {});
  project.report(ann, anns, on_device("another"));
  const WorkunitId unit = project.unit_of(anns.result).id;
  const std::vector<Result> results = project.results_of_unit(unit);
  REQUIRE(results.size() == 2);
  CHECK(project.state().reservations.host(results[1].id) == bob.host);
}

TEST_CASE("a dispute outlives its round") {
  ProjectOptions options = trusting(1, 0);
  options.rule = "diloco";
  options.round_units = 3;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join(), carl = project.join(),
            eve = project.join();
  for (const Volunteer& who : {ann, bob, carl}) become_proven(project, who);
  Assignment anns = project.take(ann), bobs = project.take(bob),
             hers = project.take(eve), carls = project.take(carl);
  REQUIRE(project.unit_of(hers.result).id == project.unit_of(carls.result).id);
  project.report(eve, hers, lie());
  project.report(carl, carls);
  project.report(ann, anns);
  project.report(bob, bobs);
  REQUIRE(project.run().model.version() == 1);
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.unit_of(hers.result).state == WorkunitState::credited);
  CHECK(project.host(eve).false_results == 1);
  CHECK(project.host(carl).credit > 0);
  check_ledger(project);
}

TEST_CASE("a revocation does not save others from their checks") {
  ProjectOptions options = trusting(1, 0);
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer ann = project.join(), eve = project.join(),
            mallory = project.join();
  for (const Volunteer& who : {ann, eve, mallory}) become_proven(project, who);
  Assignment bad = project.take(mallory);
  project.report(mallory, bad, lie());
  REQUIRE(project.unit_of(bad.result).state == WorkunitState::assimilated);
  Assignment hers = project.take(eve), anns = project.take(ann);
  project.settings.trust_spot_check = 1;
  project.reopen();
  project.report(eve, hers, lie());
  REQUIRE(project.unit_of(hers.result).check == UnitCheck::spot);
  revoke(project, bad.result);
  CHECK(project.unit_of(anns.result).state == WorkunitState::cancelled);
  project.reopen();  // too late is too late after a restart
  house_works(project);
  CHECK(project.unit_of(hers.result).state == WorkunitState::credited);
  CHECK(project.host(eve).false_results == 1);
  check_ledger(project);
}

TEST_CASE("an accomplice's late copy of what was found false is false") {
  ProjectFixture project(trusting(1, 0));
  Volunteer eve = project.join(), mate = project.join();
  become_proven(project, eve);
  become_proven(project, mate);
  LateUnit unit = late_unit(project, eve, mate, lie());
  REQUIRE(project.unit_of(unit.first.result).state ==
          WorkunitState::assimilated);
  project.job([&] {
    Consequences(project.state())
        .found_false(project.unit_of(unit.first.result), "for this test");
  });
  project.report(mate, unit.second, lie());
  CHECK(project.result(unit.second.result).validate_state ==
        ValidateState::invalid);
  CHECK(project.host(mate).false_results == 1);
  CHECK(project.host(mate).credit == 0);
}

TEST_CASE("a check that nobody could do leaves a unit unchecked") {
  ProjectFixture project(trusting(1, 1));
  Volunteer eve = project.join(), ann = project.join();
  become_proven(project, eve);
  become_proven(project, ann);
  LateUnit unit = late_unit(project, eve, ann, lie());
  for (int i = 0; i < 3; ++i) {
    project.give_up(project.house(), project.take_as_house().result, "no");
  }
  REQUIRE(project.unit_of(unit.first.result).state ==
          WorkunitState::assimilated);
  project.report(ann, unit.second);
  CHECK(project.unit_of(unit.first.result).check == UnitCheck::recheck);
  CHECK(project.run().to_recheck.size() == 1);
}

TEST_CASE("without a house worker the only proven host may take a unit again") {
  ProjectOptions options = trusting(1, 0);
  options.house_workers = 0;
  ProjectFixture project(options);
  Volunteer ann = project.join(), carl = project.join();
  become_proven(project, ann);
  Assignment lost = project.take(ann);
  project.pass(Seconds(15));
  project.heartbeat(carl, {});
  project.pass(Seconds(10));  // Ann was silent
  project.heartbeat(carl, {});
  project.heartbeat(ann, {});
  CHECK(project.unit_of(project.take(ann).result).id ==
        project.unit_of(lost.result).id);
}

TEST_CASE("what was lost by silence counts for its block of addresses") {
  ProjectFixture project;
  Volunteer ann = project.join(), mate = project.join();
  for (const Volunteer& who : {ann, mate}) {
    project.state().hosts.note_block(who.host, "c00002", project.clock.now());
  }
  Assignment first = project.take(ann);
  project.pass(Seconds(25));
  for (const Assignment& other : project.ask(mate, 4).assignments) {
    CHECK(project.unit_of(other.result).id != project.unit_of(first.result).id);
  }
}

}  // namespace quorate
