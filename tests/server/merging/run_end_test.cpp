// Publishing, the end of a run, and daemons that run by hand.
#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::Volunteer;

template <class Body>
std::vector<Body> entries_of(ProjectFixture& project) {
  std::vector<Body> found;
  for (const LedgerEntry& entry : project.ledger()) {
    if (const auto* body = std::get_if<Body>(&entry.body)) {
      found.push_back(*body);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a run ends with a last snapshot and the end, and replays") {
  ProjectFixture project({.epochs = 2});
  std::vector<Volunteer> users = {project.join(), project.join(),
                                  project.join()};
  project.train_to_end(users);
  CHECK(project.run().run.state == RunState::finished);
  CHECK(project.state().store.runs().at(0).state == RunState::finished);
  CHECK(project.state().store.runs().at(0).ended > 0);
  CHECK(project.run().model.version() == 10);
  CHECK(project.assimilated().size() == 10);

  std::vector<LedgerEntry> ledger = project.ledger();
  const auto* last =
      std::get_if<SnapshotPublished>(&ledger.at(ledger.size() - 2).body);
  const auto* end = std::get_if<RunEnded>(&ledger.back().body);
  REQUIRE(last != nullptr);
  REQUIRE(end != nullptr);
  CHECK(last->version == 10);
  CHECK(end->version == 10);
  CHECK(end->state == "finished");
  CHECK(end->parameters == last->parameters);
  CHECK(end->published == last->published);
  CHECK(project.events("run_finished") == 1);
  CHECK(project.ask(users[0]).assignments.empty());
  CHECK(project.state().feeder.units().empty());
  check_ledger(project);
}

TEST_CASE("a version is published after so many versions and so much time") {
  ProjectFixture project({.quorum = 1, .evaluate_every_versions = 2});
  project.settings.evaluate_every = Seconds(10);
  Volunteer ann = project.join();
  auto published = [&] {
    return entries_of<SnapshotPublished>(project).size();
  };
  auto make_version = [&] { project.report(ann, project.take(ann)); };
  make_version();
  CHECK(published() == 0);
  make_version();
  CHECK(published() == 1);  // two versions, and none published before
  make_version();
  make_version();
  CHECK(published() == 1);  // two more, but too early
  project.pass(Seconds(10));
  CHECK(published() == 2);
  CHECK(project.run().published_version == 4);
}

TEST_CASE("a run that is stopped cancels what is out and keeps its ledger") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join(), carol = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  project.report(ann, a);
  project.report(bob, b);
  Assignment c = project.take(carol);
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  CHECK(project.run().run.state == RunState::stopped);
  CHECK(project.unit_of(c.result).state == WorkunitState::cancelled);
  CHECK(project.heartbeat(carol, {c.result}).cancel ==
        std::vector<ResultId>{c.result});
  CHECK_FALSE(project.report(carol, c).accepted);
  CHECK(project.ask(ann).assignments.empty());
  CHECK(entries_of<RunEnded>(project).at(0).state == "stopped");
  CHECK(project.state().feeder.units().empty());
  check_ledger(project);
}

TEST_CASE("a paused run sends nothing new, and takes what is reported") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  project.job([&] { project.run().run.state = RunState::paused; });
  project.report(ann, a);
  project.report(bob, b);
  CHECK(project.run().model.version() == 1);
  CHECK(project.ask(ann).assignments.empty());
  project.job([&] { project.run().run.state = RunState::running; });
  CHECK(project.ask(ann).assignments.size() == 1);
}

TEST_CASE("without their roles, validation and assimilation go by hand") {
  ProjectFixture project({.roles = parse_roles("scheduler")});
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  CHECK(project.report(ann, a).accepted);
  CHECK(project.report(bob, b).accepted);
  Workunit unit = project.unit_of(a.result);
  CHECK(unit.state == WorkunitState::open);
  CHECK(project.result(a.result).validate_state == ValidateState::init);

  project.job([&] { project.daemons().transitioner.look_at(unit.id); });
  CHECK(project.unit_of(a.result).state == WorkunitState::validated);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.run().model.version() == 0);

  project.job([&] { project.daemons().assimilator.pass(project.run()); });
  CHECK(project.unit_of(a.result).state == WorkunitState::assimilated);
  CHECK(project.run().model.version() == 1);
  CHECK(project.state().feeder.find(unit.id) == nullptr);
  check_ledger(project);
}

}  // namespace quorate
