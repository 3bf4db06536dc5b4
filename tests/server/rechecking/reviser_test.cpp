#include "server/rechecking/reviser.h"

#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/orders/result_orders.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

// 33 units of one step in an epoch.
ProjectOptions small_units(const std::string& rule) {
  ProjectOptions options;
  options.rule = rule;
  options.quorum = 1;
  options.local_steps = 1;
  options.epochs = 5;
  options.evaluate_every_versions = 50;
  return options;
}

ResultId compute_one(ProjectFixture& project, const Volunteer& who) {
  const Assignment assignment = project.take(who);
  project.report(who, assignment);
  return assignment.result;
}

void revoke(ProjectFixture& project, ResultId result) {
  project.job([&] {
    revoke_result(project.state(), project.daemons(),
                  nlohmann::json{{"result", result}, {"why", "a test"}});
  });
}

void check_goes_on(const std::string& rule) {
  ProjectFixture project(small_units(rule));
  const Volunteer who = project.join();
  const Volunteer slow = project.join();
  const ResultId wrong = compute_one(project, who);
  const Assignment old = project.take(slow);
  for (int i = 0; i < 110; ++i) compute_one(project, who);
  std::vector<Job> aside;
  project.daemons().reviser.start_with(
      [&](Job job) { aside.push_back(std::move(job)); });
  revoke(project, wrong);

  // The first stretch is made; meanwhile results arrive, one on an old version.
  REQUIRE(aside.size() == 1);
  const std::size_t before = project.assimilated().size();
  project.report(slow, old);
  compute_one(project, who);
  CHECK(project.assimilated().size() == before + 2);
  std::exchange(aside, {}).front()();
  CHECK(project.writer().run_posted());

  // The second is the last: the run waits for it.
  REQUIRE(aside.size() == 1);
  CHECK(project.run().is_revising);
  std::exchange(aside, {}).front()();
  CHECK(project.writer().run_posted());
  CHECK_FALSE(project.run().is_revising);
  const LedgerEntry entry = project.ledger().at(project.ledger().size() - 2);
  CHECK(std::get<Revoked>(entry.body).results == std::vector<ResultId>{wrong});
  compute_one(project, who);
  check_ledger(project);
}

TEST_CASE("a run goes on while its model is rebuilt") {
  check_goes_on("vc-asgd");
}

TEST_CASE("a run of replicas goes on while its model is rebuilt") {
  check_goes_on("gossip");
}

TEST_CASE("a run that is stopped meanwhile is not rebuilt") {
  ProjectFixture project(small_units("vc-asgd"));
  const Volunteer who = project.join();
  const ResultId wrong = compute_one(project, who);
  for (int i = 0; i < 110; ++i) compute_one(project, who);
  std::vector<Job> aside;
  project.daemons().reviser.start_with(
      [&](Job job) { aside.push_back(std::move(job)); });
  revoke(project, wrong);
  REQUIRE(aside.size() == 1);
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  std::exchange(aside, {}).front()();
  CHECK(project.writer().run_posted());
  CHECK(aside.empty());
  CHECK(std::holds_alternative<RunEnded>(project.ledger().back().body));
  check_ledger(project);
}

}  // namespace
}  // namespace quorate
