#include "server/rechecking/reviser.h"

#include <optional>
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

ResultId compute(ProjectFixture& project, const Volunteer& who) {
  const Assignment assignment = project.take(who);
  project.report(who, assignment);
  return assignment.result;
}

// A long ledger whose first result is about to be revoked.
struct Revising {
  explicit Revising(const std::string& rule)
      : project(small_units(rule)), who(project.join()), slow(project.join()) {
    wrong = compute_one();
    old = project.take(slow);
    for (int i = 0; i < 110; ++i) compute_one();
    project.daemons().reviser.start_with(
        [this](Job job) { aside.push_back(std::move(job)); });
    project.job([&] {
      revoke_result(project.state(), project.daemons(),
                    nlohmann::json{{"result", wrong}, {"why", "a test"}});
    });
  }

  ResultId compute_one() { return compute(project, who); }
  void make_stretch() {
    REQUIRE(aside.size() == 1);
    std::exchange(aside, {}).front()();
    CHECK(project.writer().run_posted());
  }

  ProjectFixture project;
  Volunteer who;
  Volunteer slow;
  ResultId wrong = 0;
  Assignment old;  // of the slow one, on the first versions
  std::vector<Job> aside;
};

void check_goes_on(const std::string& rule) {
  Revising scene(rule);
  ProjectFixture& project = scene.project;
  // Before the first stretch is made results arrive, one on an old version.
  const std::size_t before = project.assimilated().size();
  project.report(scene.slow, scene.old);
  scene.compute_one();
  CHECK(project.assimilated().size() == before + 2);
  scene.make_stretch();

  // The second is the last: the run waits for it.
  CHECK(project.run().is_revising);
  scene.make_stretch();
  CHECK_FALSE(project.run().is_revising);
  const LedgerEntry entry = project.ledger().at(project.ledger().size() - 2);
  CHECK(std::get<Revoked>(entry.body).results ==
        std::vector<ResultId>{scene.wrong});
  scene.compute_one();
  check_ledger(project);
}

// What one entry revokes when both results have to go.
Revoked revocation_of(ProjectFixture& project, ResultId one, ResultId other) {
  std::vector<Job> aside;
  project.job([&] {
    for (const ResultId id : {one, other}) {
      revoke_result(project.state(), project.daemons(),
                    nlohmann::json{{"result", id}, {"why", "a test"}});
    }
  });
  project.daemons().reviser.start_with(
      [&](Job job) { aside.push_back(std::move(job)); });
  while (project.run().to_revoke.size() > 0) {
    project.job([&] { project.daemons().reviser.pass(); });
    REQUIRE(aside.size() == 1);
    std::exchange(aside, {}).front()();
    CHECK(project.writer().run_posted());
  }
  std::optional<Revoked> found;
  for (const LedgerEntry& entry : project.ledger()) {
    if (!std::holds_alternative<Revoked>(entry.body)) continue;
    CHECK_FALSE(found.has_value());
    found = std::get<Revoked>(entry.body);
  }
  check_ledger(project);
  return found.value();
}

TEST_CASE("what several hosts computed is revoked by one entry") {
  ProjectFixture project(small_units("vc-asgd"));
  const ResultId hers = compute(project, project.join());
  const ResultId his = compute(project, project.join());
  const Revoked revoked = revocation_of(project, hers, his);
  CHECK(revoked.results == std::vector<ResultId>{hers, his});
  CHECK_FALSE(revoked.host.has_value());
}

TEST_CASE("a host that got a new key is not named by a revocation") {
  ProjectFixture project(small_units("vc-asgd"));
  const Volunteer who = project.join();
  const ResultId first = compute(project, who);
  const ResultId second = compute(project, who);
  SUBCASE("it has the old one") {
    CHECK(revocation_of(project, first, second).host == who.key.public_key());
  }
  SUBCASE("it has another") {
    project.job([&] {
      HostTable& hosts = project.state().hosts;
      hosts.change_key(*hosts.host(who.host),
                       PrivateKey::generate().public_key());
    });
    CHECK_FALSE(revocation_of(project, first, second).host.has_value());
  }
}

TEST_CASE("a run goes on while its model is rebuilt") {
  check_goes_on("vc-asgd");
}

TEST_CASE("a run of replicas goes on while its model is rebuilt") {
  check_goes_on("gossip");
}

TEST_CASE("a run that is stopped meanwhile is not rebuilt") {
  Revising scene("vc-asgd");
  ProjectFixture& project = scene.project;
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  scene.make_stretch();
  CHECK(scene.aside.empty());
  CHECK(std::holds_alternative<RunEnded>(project.ledger().back().body));
  check_ledger(project);
}

}  // namespace
}  // namespace quorate
