// What hosts can do to a run by failing, by keeping, by claiming: each of them
// alone, or a few together.
#include <doctest/doctest.h>

#include "server/making/work_generator.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

void fail_all(ProjectFixture& project, const Volunteer& who) {
  for (const Assignment& one : project.ask(who, 16).assignments) {
    project.give_up(who, one.result, "no");
  }
}

}  // namespace

TEST_CASE("failing at units does not hand out the run") {
  ProjectOptions options;
  options.local_steps = 1;
  options.epochs = 5;  // 165 units
  ProjectFixture project(options);
  Volunteer hostile = project.join();
  for (int i = 0; i < 50; ++i) {
    fail_all(project, hostile);
    project.pass(Seconds(1));
  }
  CHECK(project.state().feeder.units().size() <= most_open_units(1));
  CHECK(project.run().cursor.next_unit <= most_open_units(1));
}

TEST_CASE("taking units does not hand out the run") {
  ProjectOptions options;
  options.local_steps = 1;
  options.epochs = 5;  // 165 units
  ProjectFixture project(options);
  project.settings.max_results_per_host = 100;
  Volunteer greedy = project.join();
  CHECK(project.ask(greedy, 100).assignments.size() == most_open_units(1));
}

TEST_CASE("a host that fails rests, and works again after a valid result") {
  ProjectOptions options;
  options.quorum = 1;
  options.local_steps = 2;
  ProjectFixture project(options);
  Volunteer clumsy = project.join();
  for (int i = 0; i < 3; ++i) {
    project.give_up(clumsy, project.take(clumsy).result, "no");
  }
  CHECK(project.ask(clumsy).assignments.empty());
  project.pass(Seconds(1));
  project.report(clumsy, project.take(clumsy));
  for (int i = 0; i < 2; ++i) {
    project.give_up(clumsy, project.take(clumsy).result, "no");
  }
  CHECK_FALSE(project.ask(clumsy).assignments.empty());
}

TEST_CASE("a host whose results are false rests") {
  ProjectFixture project({.local_steps = 2});
  Volunteer liar = project.join();
  Volunteer honest[] = {project.join(), project.join()};
  for (std::uint8_t i = 1; i <= 3; ++i) {
    Assignment lied_about = project.take(liar);
    project.report(liar, lied_about, test::lie(i));
    for (const Volunteer& who : honest) {
      project.report(who, project.take(who));
    }
    REQUIRE(project.result(lied_about.result).validate_state ==
            ValidateState::invalid);
  }
  CHECK(project.ask(liar).assignments.empty());
  CHECK_FALSE(project.ask(honest[0]).assignments.empty());
}

TEST_CASE("a result cannot be kept for ever by heartbeats") {
  ProjectFixture project({.quorum = 1});
  Volunteer honest = project.join();
  Volunteer hoarder = project.join();
  Assignment shows_how_long = project.take(honest);
  project.pass(Seconds(1));
  project.report(honest, shows_how_long);
  Assignment kept = project.take(hoarder);
  const Seconds lease = project.settings.lease;
  Seconds held{0};
  while (project.result(kept.result).outcome == ResultOutcome::init) {
    project.heartbeat(hoarder, {kept.result});
    project.ask(hoarder, 1);  // as if it had lost it: no new lease
    project.pass(lease / 4);
    held += lease / 4;
    REQUIRE(held < 20 * lease);
  }
  CHECK(held <= 2 * lease);
  CHECK(project.result(kept.result).outcome == ResultOutcome::no_reply);
  CHECK(project.result(kept.result).reason.find("longer than other hosts") !=
        std::string::npos);
}

TEST_CASE("a host that keeps results beyond their time rests") {
  ProjectFixture project({.quorum = 1, .local_steps = 2});
  Volunteer honest = project.join();
  Volunteer hoarder = project.join();
  Assignment shows_how_long = project.take(honest);
  project.pass(Seconds(1));
  project.report(honest, shows_how_long);
  std::vector<ResultId> kept;
  for (const Assignment& one : project.ask(hoarder, 3).assignments) {
    kept.push_back(one.result);
  }
  REQUIRE(kept.size() == 3);
  while (project.result(kept[0]).outcome == ResultOutcome::init) {
    project.heartbeat(hoarder, kept);
    project.pass(project.settings.lease / 4);
  }
  for (ResultId id : kept) {
    CHECK(project.result(id).outcome == ResultOutcome::no_reply);
  }
  CHECK(project.ask(hoarder).assignments.empty());
}

// A round waits for its units: a host that keeps one gains three times what
// others take.
TEST_CASE("who keeps a unit of a round holds it up for a moment") {
  ProjectOptions options;
  options.rule = "diloco";
  options.quorum = 1;
  options.round_units = 2;
  options.epochs = 4;
  ProjectFixture project(options);
  Volunteer honest = project.join();
  Volunteer hoarder = project.join();
  // The first round shows what units take.
  Assignment first = project.take(honest);
  Assignment second = project.take(hoarder);
  project.pass(Seconds(4));
  project.report(honest, first);
  project.report(hoarder, second);
  REQUIRE(project.run().cursor.round == 1);
  first = project.take(honest);
  const Assignment kept = project.take(hoarder);
  project.report(honest, first);
  const auto held = [&](Seconds time) {
    project.heartbeat(hoarder, {kept.result});
    project.pass(time);
  };
  held(Seconds(10));
  CHECK(project.ask(honest).assignments.empty());
  held(Seconds(3));
  const Assignment backup = project.take(honest);
  CHECK(project.unit_of(backup.result).id == project.unit_of(kept.result).id);
  project.report(honest, backup);
  CHECK(project.run().cursor.round == 2);
  // The next one's times are as before.
  CHECK(project.run().typical_time < Seconds(5));
}

TEST_CASE("what a run need not wait for is computed once, however slow") {
  ProjectOptions options;
  options.quorum = 1;
  options.local_steps = 1;
  options.epochs = 5;
  ProjectFixture project(options);
  Volunteer honest = project.join();
  Volunteer slow = project.join();
  const Assignment shows_how_long = project.take(honest);
  project.pass(Seconds(1));
  project.report(honest, shows_how_long);
  const Assignment kept = project.take(slow);
  for (int i = 0; i < 4; ++i) {
    project.heartbeat(slow, {kept.result});
    project.pass(Seconds(2));
  }
  REQUIRE(project.result(kept.result).outcome == ResultOutcome::init);
  CHECK(project.unit_of(project.take(honest).result).id !=
        project.unit_of(kept.result).id);
}

TEST_CASE("many who fail at a unit do not have it left out") {
  ProjectFixture project({.local_steps = 33, .house_workers = 1});
  std::vector<Volunteer> hostile;
  for (int i = 0; i < 20; ++i) hostile.push_back(project.join());
  for (const Volunteer& who : hostile) fail_all(project, who);
  CHECK(project.events("unit_failed") == 0);
  REQUIRE(project.run().run.state == RunState::running);
  for (int i = 0; i < 100 && project.run().run.state == RunState::running;
       ++i) {
    project.pass(Seconds(60));  // nobody else: the house does it all
    if (project.state().feeder.unsent().empty()) continue;
    project.report(project.house(), project.take_as_house());
  }
  CHECK(project.run().run.state == RunState::finished);
  CHECK(project.assimilated().size() == 1);
}

TEST_CASE("volunteers alone cannot say that the training diverged") {
  ProjectFixture project({.local_steps = 33, .house_workers = 1});
  std::vector<Volunteer> users = {project.join(), project.join()};
  SUBCASE("a lie that the house does not share") {
    for (const Volunteer& who : users) {
      project.report(who, project.take(who), test::divergence());
    }
    CHECK(project.run().run.state == RunState::running);
    CHECK_FALSE(project.run().divergence.has_value());
    project.report(project.house(), project.take_as_house());
    CHECK(project.assimilated().size() == 1);
    CHECK(project.host(users[0]).invalid == 1);
    CHECK(project.host(users[1]).invalid == 1);
  }
  SUBCASE("the truth") {
    for (const Volunteer& who : users) {
      project.report(who, project.take(who), test::divergence());
    }
    project.report(project.house(), project.take_as_house(),
                   test::divergence());
    CHECK(project.run().run.state == RunState::paused);
    CHECK(project.host(users[0]).valid == 1);
  }
}

}  // namespace quorate
