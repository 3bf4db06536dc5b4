// Ways round the trust rules that were tried, each with what must come of it.
#include <doctest/doctest.h>

#include "tests/server/judging/trust_scene.h"
#include "tests/server/project_fixture.h"

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
using test::trusting;
using test::Volunteer;

}  // namespace

TEST_CASE("a restart in the middle of a check does not save a liar from it") {
  ProjectOptions options = trusting(1, 1);
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer eve = project.join();
  become_proven(project, eve);
  Assignment hers = project.take(eve);
  project.report(eve, hers, lie());
  REQUIRE(project.unit_of(hers.result).check == UnitCheck::spot);
  project.take_as_house();
  project.reopen();
  project.pass(Seconds(1));
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  CHECK(project.host(eve).false_results == 1);
}

TEST_CASE("who disagrees late with what proves sound was false") {
  ProjectFixture project(trusting(1, 0));
  Volunteer ann = project.join(), eve = project.join();
  become_proven(project, ann);
  become_proven(project, eve);
  LateUnit unit = late_unit(project, ann, eve);
  Workunit agreed = project.unit_of(unit.first.result);
  REQUIRE(agreed.state == WorkunitState::assimilated);
  project.report(eve, unit.second, lie());
  REQUIRE(project.run().to_recheck == std::set<WorkunitId>{agreed.id});
  project.job([&] {
    Consequences(project.state())
        .found_sound(project.unit_of(unit.first.result));
  });
  CHECK(project.result(unit.second.result).validate_state ==
        ValidateState::invalid);
  CHECK(project.host(eve).false_results == 1);
  CHECK(project.host(ann).false_results == 0);
}

TEST_CASE("a false result that comes after a house worker's verdict counts") {
  ProjectFixture project(trusting(1, 1));
  Volunteer ann = project.join(), eve = project.join();
  become_proven(project, ann);
  become_proven(project, eve);
  LateUnit unit = late_unit(project, ann, eve);
  house_works(project);
  REQUIRE(project.unit_of(unit.first.result).check == UnitCheck::sound);
  project.report(eve, unit.second, lie());
  CHECK(project.result(unit.second.result).validate_state ==
        ValidateState::invalid);
  CHECK(project.host(eve).false_results == 1);
}

TEST_CASE("what is in no ledger is not rechecked for ever") {
  ProjectOptions options = trusting(1, 0);
  options.rule = "diloco";
  options.round_units = 6;
  ProjectFixture project(options);
  Volunteer ann = project.join(), eve = project.join();
  become_proven(project, ann);
  become_proven(project, eve);
  LateUnit unit = late_unit(project, ann, eve);
  REQUIRE(project.unit_of(unit.first.result).state == WorkunitState::validated);
  project.report(eve, unit.second, lie());
  project.job([&] {
    Consequences(project.state())
        .purge(*project.state().hosts.host(ann.host), "a drill");
  });
  REQUIRE(project.unit_of(unit.first.result).state == WorkunitState::cancelled);
  CHECK(project.run().to_recheck.empty());
}

TEST_CASE("nothing counts that a purged host reported, judged or not") {
  ProjectFixture project(trusting(3, 0));
  const Volunteer eve = project.join();
  const Assignment hers = project.take(eve);
  project.report(eve, hers);
  REQUIRE(project.unit_of(hers.result).state == WorkunitState::open);
  project.job([&] {
    Consequences(project.state())
        .purge(*project.state().hosts.host(eve.host), "a drill");
    project.daemons().transitioner.reject_undecided(eve.host, "a drill");
  });
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  house_works(project);
  CHECK(project.unit_of(hers.result).state == WorkunitState::assimilated);
  CHECK(project.unit_of(hers.result).canonical_result != hers.result);
  test::check_memory(project);
}

TEST_CASE("a late witness is judged, and nothing of it stays in memory") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join(), eve = project.join();
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  project.pass(Seconds(15));
  project.heartbeat(ann, {first.result});
  project.pass(Seconds(10));  // Bob was silent
  project.heartbeat(eve, {});
  Assignment third = project.take(eve);
  REQUIRE(project.unit_of(third.result).id == project.unit_of(first.result).id);
  project.report(ann, first);
  project.report(bob, second);
  REQUIRE(project.unit_of(first.result).state == WorkunitState::assimilated);
  Forgery unknown = lie();
  unknown.upload = Bytes();  // nobody has the update that she names
  project.report(eve, third, unknown);
  CHECK(project.result(third.result).validate_state == ValidateState::too_late);
  CHECK(project.unit_of(third.result).check == UnitCheck::recheck);
  CHECK(
      project.state().open_results.witnesses(third.objects.at(0).hash).empty());
}

TEST_CASE("whoever comes first after a restart is not chosen by that") {
  ProjectOptions options;
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join(), eve = project.join();
  Assignment anns = project.take(ann);
  const WorkunitId unit = project.unit_of(anns.result).id;
  project.reopen();
  for (const Assignment& hers : project.ask(eve).assignments) {
    CHECK(project.unit_of(hers.result).id != unit);
  }
  project.heartbeat(ann, {anns.result});
  project.heartbeat(bob, {});
  project.pass(project.settings.heartbeat);
  const std::vector<Result> results = project.results_of_unit(unit);
  REQUIRE(results.size() == 2);
  CHECK(project.state().reservations.host(results[1].id).has_value());
}

TEST_CASE("the end of its round does not save a liar from a check") {
  ProjectOptions options = trusting(1, 1);
  options.rule = "diloco";
  options.round_units = 3;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join(), eve = project.join();
  become_proven(project, ann);
  become_proven(project, bob);
  become_proven(project, eve);
  const Assignment anns = project.take(ann), bobs = project.take(bob);
  Assignment hers = project.take(eve);
  project.report(eve, hers, lie());
  project.report(ann, anns);
  project.report(bob, bobs);
  // The house's first two; with them the round is complete.
  for (const Assignment& one : {anns, bobs}) {
    Assignment check = project.take_as_house();
    REQUIRE(project.unit_of(check.result).id == project.unit_of(one.result).id);
    project.report(project.house(), check);
  }
  REQUIRE(project.run().model.version() == 1);
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  CHECK(project.host(eve).false_results == 1);
  check_ledger(project);
}

TEST_CASE("a house worker that fails at a check is asked again") {
  ProjectFixture project(trusting(1, 1));
  Volunteer eve = project.join();
  become_proven(project, eve);
  Assignment hers = project.take(eve);
  project.report(eve, hers, lie());
  const Volunteer house = project.house();
  auto fail = [&] {
    project.give_up(house, project.take_as_house().result, "no memory");
  };
  fail();
  fail();
  REQUIRE(project.unit_of(hers.result).state == WorkunitState::open);
  SUBCASE("it can the third time") {
    house_works(project);
    CHECK(project.host(eve).false_results == 1);
    CHECK(project.events("check_failed") == 0);
  }
  SUBCASE("it never can: the run goes on, and its operator is told") {
    fail();
    CHECK(project.unit_of(hers.result).state == WorkunitState::assimilated);
    CHECK(project.unit_of(hers.result).check == UnitCheck::spot);
    CHECK(project.events("check_failed") == 1);
  }
}

TEST_CASE("a malformed object that two witnesses name is no update") {
  ProjectOptions options;
  ProjectFixture project(options);
  Volunteer nan = project.join(), eve = project.join(),
            mallory = project.join();
  Assignment first = project.take(nan);
  Assignment second = project.take(eve);
  project.pass(Seconds(15));
  project.heartbeat(nan, {first.result});
  project.pass(Seconds(10));  // Eve was silent
  project.heartbeat(nan, {first.result});
  project.heartbeat(mallory, {});
  Assignment third = project.take(mallory);
  REQUIRE(project.unit_of(third.result).id == project.unit_of(first.result).id);
  REQUIRE_FALSE(second.upload);
  REQUIRE_FALSE(third.upload);
  // Any object of the project: here the description of the unit's data.
  Bytes object = project.state().objects.read(first.objects.at(2).hash);
  Forgery named;
  named.result = [&](TrainingResult& result) {
    result.update = object;
    result.claim.update = first.objects.at(2).hash;
  };
  named.upload = Bytes();
  CHECK_FALSE(project.report(eve, second, named).accepted);
  CHECK_FALSE(project.report(mallory, third, named).accepted);
  CHECK(project.run().run.state == RunState::running);
  CHECK(project.unit_of(first.result).state == WorkunitState::open);
}

TEST_CASE("who lost its standing is not believed alone, anchors or not") {
  ProjectOptions options = trusting(1, 0);
  options.anchor = false;
  ProjectFixture project(options);
  Volunteer ann = project.join(), eve = project.join();
  for (const Volunteer& who : {ann, eve}) {
    Assignment unit = project.take(who);
    project.report(who, unit);
  }
  project.job([&] {
    Consequences(project.state())
        .trust(*project.state().hosts.host(eve.host), "a friend");
  });
  house_works(project);
  Assignment hers = project.take(eve);
  REQUIRE(project.unit_of(hers.result).min_quorum == 1);
  project.job([&] {
    Consequences(project.state())
        .on_false(eve.host, project.run().run.key, "found");
  });
  project.report(eve, hers, lie());
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
}

}  // namespace quorate
