// Proven hosts that send updates by which one alone could stop or steer a run.
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "tests/server/judging/trust_scene.h"
#include "tests/server/merging/revoking.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::become_proven;
using test::check_ledger;
using test::Forgery;
using test::house_works;
using test::lie;
using test::ProjectFixture;
using test::ProjectOptions;
using test::trusting;
using test::Volunteer;

ProjectOptions bounded() {
  ProjectOptions options = trusting(1, 0);
  options.is_bounded = true;
  return options;
}

// The update with its last value as large as floats are.
Forgery huge() {
  Forgery forgery;
  forgery.result = [](TrainingResult& result) {
    const float value = std::numeric_limits<float>::max();
    std::memcpy(result.update.data() + result.update.size() - sizeof value,
                &value, sizeof value);
    result.claim.update = sha256(result.update);
  };
  return forgery;
}

// An honest host and another, both proven.
struct Pair {
  explicit Pair(ProjectFixture& project)
      : ann(project.join()), eve(project.join()) {
    become_proven(project, ann);
    become_proven(project, eve);
  }
  Volunteer ann, eve;
};

// The first update that house workers confirm.
void confirm_first(ProjectFixture& project, const Volunteer& who) {
  const Assignment first = project.take(who);
  project.report(who, first);
  CHECK(project.unit_of(first.result).check == UnitCheck::spot);
  CHECK(project.assimilated().empty());
  house_works(project);
  REQUIRE(project.assimilated().size() == 1);
}

}  // namespace

TEST_CASE("a run's first update is confirmed before others count") {
  ProjectFixture project(bounded());
  const Pair pair(project);
  const Volunteer &ann = pair.ann, &bob = pair.eve;
  const Assignment early = project.take(bob);
  const Assignment first = project.take(ann);
  project.report(ann, first);
  CHECK(project.unit_of(first.result).check == UnitCheck::spot);
  project.report(bob, early);
  CHECK(project.unit_of(early.result).state == WorkunitState::open);
  CHECK(project.unit_of(early.result).check == UnitCheck::none);
  house_works(project);
  CHECK(project.assimilated().size() == 2);
  // and from then on they count at once
  project.report(ann, project.take(ann));
  CHECK(project.assimilated().size() == 3);
  test::check_memory(project);
  check_ledger(project);
}

TEST_CASE("others do not wait for a first check that is cancelled") {
  ProjectFixture project(bounded());
  const Pair pair(project);
  const Volunteer &ann = pair.ann, &bob = pair.eve;
  const Assignment early = project.take(bob);
  const Assignment first = project.take(ann);
  project.report(ann, first);
  project.report(bob, early);
  project.job([&] {
    project.daemons().transitioner.reject(first.result, "for this test");
  });
  project.job([&] {
    Consequences(project.state())
        .ban(*project.state().hosts.host(ann.host), "for this test");
  });
  house_works(project);
  CHECK(project.assimilated().size() >= 1);
  CHECK(project.unit_of(early.result).state == WorkunitState::assimilated);
}

TEST_CASE("an update far larger than others is checked before it counts") {
  ProjectFixture project(bounded());
  const Pair pair(project);
  const Volunteer &ann = pair.ann, &eve = pair.eve;
  confirm_first(project, ann);
  const Assignment hers = project.take(eve);
  project.report(eve, hers, huge());
  CHECK(project.unit_of(hers.result).check == UnitCheck::spot);
  CHECK(project.events("update_unusual") == 1);
  CHECK(project.assimilated().size() == 1);
  house_works(project);
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  CHECK(project.host(eve).false_results == 1);
  CHECK(project.run().run.state == RunState::running);
  for (const float value : project.run().model.parameters()) {
    REQUIRE(std::abs(value) < 100);
  }
  check_ledger(project);
}

TEST_CASE("what is confirmed, and what waits, is known after a restart") {
  ProjectOptions options = bounded();
  options.on_disk = true;
  ProjectFixture project(options);
  const Volunteer ann = project.join(), eve = project.join();
  become_proven(project, eve);
  // two unproven users: no verdict yet
  const Assignment waiting = project.take(ann);
  project.report(ann, waiting);
  CHECK(project.unit_of(waiting.result).state == WorkunitState::open);
  project.reopen();
  project.heartbeat(eve, {});
  house_works(project);
  REQUIRE(project.assimilated().size() == 1);
  project.reopen();
  CHECK(project.run().bound.is_known());
  const Assignment hers = project.take(eve);
  project.report(eve, hers, huge());
  CHECK(project.unit_of(hers.result).check == UnitCheck::spot);
}

TEST_CASE("what waits for the first confirmation waits after a restart, too") {
  ProjectOptions options = bounded();
  options.on_disk = true;
  ProjectFixture project(options);
  const Pair pair(project);
  const Volunteer &ann = pair.ann, &eve = pair.eve;
  const Assignment early = project.take(eve);
  project.report(ann, project.take(ann));
  project.report(eve, early, huge());
  project.reopen();
  CHECK(project.assimilated().empty());
  CHECK(project.unit_of(early.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.result(early.result).validate_state == ValidateState::invalid);
}

TEST_CASE("before a run pauses for divergence, its updates are rechecked") {
  ProjectFixture project(bounded());
  const Pair pair(project);
  const Volunteer &ann = pair.ann, &eve = pair.eve;
  confirm_first(project, ann);
  const Assignment hers = project.take(eve);
  project.report(eve, hers, lie());
  REQUIRE(project.assimilated().size() == 2);
  const Assignment last = project.take(ann);
  project.report(ann, last, test::divergence());
  project.report(project.house(), project.take_as_house(), test::divergence());
  CHECK(project.run().run.state == RunState::running);
  CHECK(project.events("divergence_examined") == 1);
  const WorkunitId suspect = project.unit_of(hers.result).id;
  CHECK(project.run().to_recheck == std::set<WorkunitId>{suspect});
  CHECK_FALSE(project.ask(ann).assignments.size() > 0);

  SUBCASE("one was false: it goes, and the run goes on") {
    project.job([&] {
      Consequences(project.state())
          .found_false(project.unit_of(hers.result), "a test");
    });
    project.pass(Seconds(1));
    CHECK(project.run().run.state == RunState::running);
    test::revoke(project, hers.result);
    project.job([&] {
      Consequences(project.state()).revoked(project.unit_of(hers.result));
    });
    project.pass(Seconds(1));
    CHECK(project.run().run.state == RunState::running);
    CHECK_FALSE(project.run().divergence.has_value());
    CHECK(project.host(eve).false_results == 1);
    CHECK(project.ask(ann).assignments.size() == 1);
  }
  SUBCASE("all are sound: it pauses, with advice") {
    project.job([&] {
      Consequences(project.state()).found_sound(project.unit_of(hers.result));
    });
    project.pass(Seconds(1));
    CHECK(project.run().run.state == RunState::paused);
    CHECK(project.run().run.state_reason.find("lower --lr") !=
          std::string::npos);
  }
}

TEST_CASE("nobody becomes proven in a moment") {
  ProjectOptions options = trusting(3, 0);
  options.proven_time = Seconds(30);
  ProjectFixture project(options);
  const Volunteer eve = project.join();
  const Instant began = project.clock.now();
  int units = 0;
  while (project.state().trust.standing(project.host(eve)) !=
         Standing::proven) {
    REQUIRE(++units < 30);
    const Assignment hers = project.take(eve);
    project.report(eve, hers);
    house_works(project);
    REQUIRE(project.result(hers.result).validate_state == ValidateState::valid);
    if (units % 2 == 0) project.pass(Seconds(5));
  }
  // Of the units in the first 20 seconds, those at 0, 10 and 20 count.
  CHECK(project.clock.now() - began == Seconds(20));
  CHECK(project.state().trust.validated(eve.host) == 3);
}

}  // namespace quorate
