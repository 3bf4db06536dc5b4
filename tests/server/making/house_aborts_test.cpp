// A model that passes every check, and ends each program that computes it.
#include "server/making/house_aborts.h"

#include <doctest/doctest.h>

#include "server/orders/runs/move_run.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::ProjectFixture;

void abort_next(ProjectFixture& project) {
  const Assignment unit = project.take_as_house();
  project.job([&] {
    project.daemons().transitioner.on_house_aborted(unit.result,
                                                    "no luck today");
  });
}

}  // namespace

TEST_CASE("a run under whose units house workers abort pauses and says so") {
  ProjectFixture project({.house_workers = 1});
  abort_next(project);
  abort_next(project);
  CHECK(project.run().run.state == RunState::running);

  SUBCASE("three in a row") {
    abort_next(project);
    const Run paused = project.state().store.runs().at(0);
    CHECK(paused.state == RunState::paused);
    CHECK(paused.state_reason.starts_with(
        "house workers aborted 3 times in a row, at last in unit "));
    CHECK(paused.state_reason.find(": no luck today. Stop this run and ") !=
          std::string::npos);
    CHECK(project.events("run_paused") == 1);
    CHECK(project.events("result_failed") == 3);
    CHECK_FALSE(project.has_house_work());

    project.job([&] {
      move_run(project.state(), project.daemons(), project.run(),
               RunState::paused, RunState::running);
    });
    abort_next(project);
    CHECK(project.run().run.state == RunState::running);
  }
  SUBCASE("a good one between") {
    project.report(project.house(), project.take_as_house());
    abort_next(project);
    abort_next(project);
    CHECK(project.run().run.state == RunState::running);
    abort_next(project);
    CHECK(project.run().run.state == RunState::paused);
  }
  SUBCASE("what fails otherwise does not count") {
    const Assignment unit = project.take_as_house();
    project.give_up(project.house(), unit.result, "corrupt: another reason");
    CHECK(project.run().run.state == RunState::running);
  }
}

}  // namespace quorate
