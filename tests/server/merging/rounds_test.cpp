// Training in rounds (diloco) through the daemons.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

// Five units in the epoch; rounds of `units`, each unit by one user.
ProjectOptions in_rounds(std::uint32_t units, std::uint32_t quorum = 1) {
  ProjectOptions options;
  options.rule = "diloco";
  options.quorum = quorum;
  options.round_units = units;
  options.epochs = 2;
  return options;
}

std::vector<Volunteer> join(ProjectFixture& project, std::size_t count) {
  std::vector<Volunteer> users;
  for (std::size_t i = 0; i < count; ++i) users.push_back(project.join());
  return users;
}

std::vector<Assignment> take_all(ProjectFixture& project,
                                 const std::vector<Volunteer>& users) {
  std::vector<Assignment> out;
  for (const Volunteer& who : users) out.push_back(project.take(who));
  return out;
}

}  // namespace

TEST_CASE("a round is made of its units on one version, and no more") {
  ProjectFixture project(in_rounds(4));
  std::vector<Volunteer> users = join(project, 5);
  std::vector<Assignment> out;
  for (std::size_t i = 0; i < 4; ++i) out.push_back(project.take(users[i]));
  CHECK(project.ask(users[4]).assignments.empty());
  for (const Assignment& one : out) {
    Workunit unit = project.unit_of(one.result);
    CHECK(unit.base_version == 0);
    CHECK(unit.round == 0);
    CHECK(one.objects.at(1) == out[0].objects.at(1));
  }
}

TEST_CASE("a round closes at its share and enters the ledger in unit order") {
  ProjectFixture project(in_rounds(4));
  std::vector<Volunteer> users = join(project, 4);
  std::vector<Assignment> out = take_all(project, users);
  project.report(users[3], out[3]);
  project.report(users[2], out[2]);
  CHECK(project.run().model.version() == 0);
  CHECK(project.assimilated().empty());
  CHECK(project.unit_of(out[3].result).state == WorkunitState::validated);
  project.report(users[0], out[0]);  // the third of four: ceil(0.6 * 4)

  CHECK(project.run().model.version() == 1);
  std::vector<ResultAssimilated> entries = project.assimilated();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].unit_index == 0);
  CHECK(entries[1].unit_index == 2);
  CHECK(entries[2].unit_index == 3);
  CHECK(entries[0].version_after == 0);
  CHECK(entries[1].version_after == 0);
  CHECK(entries[2].version_after == 1);
  for (const ResultAssimilated& entry : entries) {
    CHECK(entry.version_before == 0);
    CHECK(entry.staleness == 0);
    CHECK(entry.rule == "diloco");
  }
  check_ledger(project);
}

TEST_CASE("what nobody reported when a round closes is cancelled") {
  ProjectFixture project(in_rounds(3));
  std::vector<Volunteer> users = join(project, 3);
  std::vector<Assignment> out = take_all(project, users);
  project.report(users[0], out[0]);
  project.report(users[1], out[1]);
  CHECK(project.run().model.version() == 1);
  CHECK(project.unit_of(out[2].result).state == WorkunitState::cancelled);
  Result cancelled = project.result(out[2].result);
  CHECK(cancelled.outcome == ResultOutcome::didnt_need);
  CHECK(project.host(users[2]).errors == 0);
  CHECK(project.heartbeat(users[2], {out[2].result}).cancel ==
        std::vector<ResultId>{out[2].result});
  for (const Assignment& one : project.ask(users[2], 16).assignments) {
    CHECK(one.result != out[2].result);
  }
  Acknowledgement reply = project.report(users[2], out[2]);
  CHECK_FALSE(reply.accepted);
  CHECK(reply.reason.find("closed") != std::string::npos);
}

TEST_CASE("a unit with a report when its round closes may still be credited") {
  ProjectFixture project(in_rounds(3, 2));
  std::vector<Volunteer> users = join(project, 6);
  std::vector<std::vector<std::pair<Volunteer, Assignment>>> by_unit(3);
  for (const Volunteer& who : users) {
    Assignment one = project.take(who);
    by_unit.at(project.unit_of(one.result).unit_index).push_back({who, one});
  }
  auto report = [&](std::size_t unit, std::size_t replica) {
    const auto& [who, one] = by_unit.at(unit).at(replica);
    return project.report(who, one);
  };
  report(2, 0);
  for (std::size_t unit = 0; unit < 2; ++unit) {
    report(unit, 0);
    report(unit, 1);
  }
  REQUIRE(project.run().model.version() == 1);
  const auto& [late, out] = by_unit[2][1];
  CHECK(project.result(out.result).server_state == ServerState::in_progress);

  SUBCASE("the second report comes: credited, not merged") {
    CHECK(report(2, 1).accepted);
    CHECK(project.unit_of(out.result).state == WorkunitState::credited);
    CHECK(project.host(late).credit > 0);
    CHECK(project.host(by_unit[2][0].first).credit > 0);
  }
  SUBCASE("it does not come: cancelled") {
    project.pass(Seconds(21));
    CHECK(project.unit_of(out.result).state == WorkunitState::cancelled);
    CHECK(project.result(by_unit[2][0].second.result).validate_state ==
          ValidateState::too_late);
  }
  SUBCASE("it disagrees: cancelled, nobody else is bothered") {
    project.report(late, out, test::lie());
    CHECK(project.unit_of(out.result).state == WorkunitState::cancelled);
    CHECK(project.results_of_unit(project.unit_of(out.result).id).size() == 2);
  }
  CHECK(project.run().model.version() == 1);
  CHECK(project.assimilated().size() == 2);
  CHECK(project.state().feeder.find_by_result(out.result) == nullptr);
  check_ledger(project);
}

TEST_CASE("work that is not enough for all goes to those who waited longest") {
  ProjectFixture project(in_rounds(2));
  std::vector<Volunteer> users = join(project, 5);
  std::vector<Assignment> out = {project.take(users[2]),
                                 project.take(users[3])};
  WorkWish request;
  request.want = 1;
  request.wait = Seconds(25);
  std::vector<ProjectFixture::Answer> answers;
  for (std::size_t i : {4U, 1U, 0U}) {
    answers.push_back(project.ask_later(users[i], request));
  }
  project.report(users[2], out[0]);
  project.report(users[3], out[1]);
  CHECK(answers[0]->has_value());
  CHECK(answers[1]->has_value());
  CHECK_FALSE(answers[2]->has_value());
}

TEST_CASE("the next round opens on the new version, also for who waits") {
  ProjectFixture project(in_rounds(3));
  std::vector<Volunteer> users = join(project, 4);
  std::vector<Assignment> out;
  for (std::size_t i = 0; i < 3; ++i) out.push_back(project.take(users[i]));
  WorkWish request;
  request.want = 1;
  request.wait = Seconds(25);
  auto waiting = project.ask_later(users[3], request);
  project.report(users[0], out[0]);
  CHECK_FALSE(waiting->has_value());
  project.report(users[1], out[1]);
  REQUIRE(waiting->has_value());
  REQUIRE((*waiting)->assignments.size() == 1);
  Workunit unit = project.unit_of((*waiting)->assignments[0].result);
  CHECK(unit.base_version == 1);
  CHECK(unit.round == 1);
  CHECK(unit.unit_index == 3);
}

TEST_CASE("a unit that failed does not hold up its round") {
  ProjectFixture project(in_rounds(3));
  std::vector<Volunteer> users = join(project, 3);
  std::vector<Assignment> out = take_all(project, users);
  project.report(users[0], out[0]);
  WorkunitId failing = project.unit_of(out[1].result).id;
  project.give_up(users[1], out[1].result, "no");
  for (int i = 0; i < 40; ++i) {
    if (project.state().feeder.find(failing) == nullptr) break;
    Volunteer who = project.join();
    Assignment again = project.take(who);
    REQUIRE(project.unit_of(again.result).id == failing);
    project.give_up(who, again.result, "no");
  }
  REQUIRE(project.state().store.workunit(failing)->state ==
          WorkunitState::failed);
  CHECK(project.run().model.version() == 0);  // one of two that it wants
  SUBCASE("the others are enough") {
    project.report(users[2], out[2]);
    CHECK(project.run().model.version() == 1);
    CHECK(project.assimilated().size() == 2);
  }
  SUBCASE("or the round closes with fewer, once none is open") {
    project.give_up(users[2], out[2].result, "no");
    WorkunitId last = project.unit_of(out[2].result).id;
    for (int i = 0; i < 40; ++i) {
      if (project.state().feeder.find(last) == nullptr) break;
      Volunteer who = project.join();
      project.give_up(who, project.take(who).result, "no");
    }
    CHECK(project.run().model.version() == 1);
    CHECK(project.assimilated().size() == 1);
  }
  CHECK(project.run().cursor.round == 1);
  check_ledger(project);
}

TEST_CASE("a round whose units all failed makes no version") {
  ProjectFixture project(in_rounds(1));
  for (int i = 0; i < 13; ++i) {
    Volunteer who = project.join();
    project.give_up(who, project.take(who).result, "no");
  }
  CHECK(project.run().cursor.round == 1);
  CHECK(project.run().model.version() == 0);
  Volunteer who = project.join();
  CHECK(project.unit_of(project.take(who).result).unit_index == 1);
}

TEST_CASE("a diverged unit pauses the run, and its round closes without it") {
  ProjectFixture project(in_rounds(3));
  std::vector<Volunteer> users = join(project, 3);
  std::vector<Assignment> out = take_all(project, users);
  project.report(users[0], out[0], test::divergence());
  CHECK(project.run().run.state == RunState::paused);
  project.report(users[1], out[1]);
  project.report(users[2], out[2]);
  CHECK(project.run().model.version() == 1);
  CHECK(project.assimilated().size() == 2);
  check_ledger(project);
}

TEST_CASE("a whole run in rounds replays, its last round with what is left") {
  // Ten units in rounds of four: the last has two.
  ProjectFixture project(in_rounds(4));
  std::vector<Volunteer> users = join(project, 4);
  project.train_to_end(users);
  CHECK(project.run().run.state == RunState::finished);
  std::vector<ResultAssimilated> entries = project.assimilated();
  CHECK(entries.size() <= 10);
  CHECK(project.run().model.version() == entries.back().version_after);
  CHECK(project.run().model.version() == project.run().cursor.round);
  check_ledger(project);
}

TEST_CASE("a round left open by a finished epoch count still closes") {
  // Five units, rounds of a hundred: the only round is never full.
  ProjectOptions options = in_rounds(100);
  options.epochs = 1;
  ProjectFixture project(options);
  std::vector<Volunteer> users = join(project, 5);
  std::vector<Assignment> out = take_all(project, users);
  project.report(users[0], out[0]);
  project.report(users[1], out[1]);
  CHECK(project.run().model.version() == 0);
  project.report(users[2], out[2]);  // ceil(0.6 * 5)
  CHECK(project.run().model.version() == 1);
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

}  // namespace quorate
