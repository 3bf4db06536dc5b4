// Which of several runs a host works for.
#include <map>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/orders/runs/create_run.h"
#include "server/orders/runs/move_run.h"
#include "server/page/status.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::ProjectFixture;
using test::Volunteer;

// Beside the fixture's own.
TrainingRun& second_run(ProjectFixture& project, double share) {
  TrainingRun* made = nullptr;
  project.job([&] {
    made = &create_run(project.state(), project.daemons(),
                       {{"run", "second"},
                        {"dataset", "tiny"},
                        {"model", "mlp:3"},
                        {"rule", "vc-asgd"},
                        {"codec", "fp32"},
                        {"batch", 8},
                        {"local_steps", 8},
                        {"epochs", 100},
                        {"quorum", 1},
                        {"share", share}});
  });
  return *made;
}

RunKey run_of(ProjectFixture& project, const Assignment& assignment) {
  return project.unit_of(assignment.result).run;
}

// By run: of so many units, one after the other.
std::map<RunKey, int> work(ProjectFixture& project, const Volunteer& who,
                           int units) {
  std::map<RunKey, int> done;
  for (int i = 0; i < units; ++i) {
    const Assignment taken = project.take(who);
    ++done[run_of(project, taken)];
    project.report(who, taken);
  }
  return done;
}

}  // namespace

TEST_CASE("a host works for runs by their shares, which people see") {
  ProjectFixture project({.quorum = 1, .epochs = 100});
  const RunKey first = project.run().run.key;
  TrainingRun& second = second_run(project, 3);
  const Volunteer ann = project.join();
  std::map<RunKey, int> done = work(project, ann, 40);
  // The last unit of an epoch is one step.
  CHECK(std::abs(done[first] - 10) <= 3);
  const json row = status::run(project.state(), second);
  CHECK(row["share"] == 3.0);
  CHECK(std::abs(row["hosts_part"].get<double>() - 0.75) < 0.1);
  CHECK(row["host_seconds"].get<double>() > 0);
  CHECK_FALSE(row.contains("until"));
}

TEST_CASE("a run of share 0 has a host only when no other has work") {
  ProjectFixture project({.quorum = 1, .epochs = 1});  // 5 units
  const RunKey first = project.run().run.key;
  const RunKey second = second_run(project, 0).run.key;
  project.state().is_served = true;
  const auto gives_way = [&] {
    const json row = status::run(project.state(), project.state().run(second));
    return row["waits"].get<std::string>().find("share is 0") !=
           std::string::npos;
  };
  CHECK_FALSE(gives_way());  // nobody is there
  const Volunteer ann = project.join();
  CHECK(work(project, ann, 3)[first] == 3);
  CHECK(gives_way());
  const auto move = [&](RunState from, RunState to) {
    project.job([&] {
      move_run(project.state(), project.daemons(), project.run(), from, to);
    });
  };
  move(RunState::running, RunState::paused);
  CHECK(work(project, ann, 2)[second] == 2);
  CHECK_FALSE(gives_way());
  // A replica of the spare run waits, too.
  const Assignment given_up = project.take(ann);
  REQUIRE(run_of(project, given_up) == second);
  project.give_up(ann, given_up.result, "no time");
  move(RunState::paused, RunState::running);
  const Volunteer bob = project.join();
  CHECK(work(project, bob, 2)[first] == 2);
  CHECK(project.run().run.state == RunState::finished);
  CHECK(work(project, bob, 2)[second] == 2);
}

TEST_CASE("rounds have units for the hosts that a run's share stands for") {
  ProjectFixture project({.rule = "sync", .quorum = 1, .epochs = 100});
  second_run(project, 1);
  std::vector<Volunteer> hosts;
  for (int i = 0; i < 12; ++i) hosts.push_back(project.join());
  for (const Volunteer& who : hosts) project.ask(who);
  CHECK(project.run().cursor.round_units == 6);
}

TEST_CASE("a restart loses no more than whose turn it was") {
  ProjectFixture project({.quorum = 1, .epochs = 100, .on_disk = true});
  const RunKey first = project.run().run.key;
  second_run(project, 3);
  const Volunteer ann = project.join();
  work(project, ann, 10);
  const RunUsage before = project.run().cursor.used;
  project.reopen();
  CHECK(project.run().cursor.used.host_seconds == before.host_seconds);
  CHECK(std::abs(work(project, ann, 40)[first] - 10) <= 3);
}

}  // namespace quorate
