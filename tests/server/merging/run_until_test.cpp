// A run ends before its samples do, and waits between its epochs.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/making/evaluations.h"
#include "server/orders/runs/change_run.h"
#include "server/orders/runs/move_run.h"
#include "server/page/status.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::check_ledger;
using test::ProjectFixture;
using test::Volunteer;

void change(ProjectFixture& project, const json& wishes) {
  project.job([&] {
    change_run(project.state(), project.daemons(), project.run(), wishes);
  });
}

void move(ProjectFixture& project, RunState from, RunState to) {
  project.job([&] {
    move_run(project.state(), project.daemons(), project.run(), from, to);
  });
}

void evaluate(ProjectFixture& project, double accuracy) {
  project.job([&] {
    TrainingRun& training = project.run();
    Evaluation evaluation;
    evaluation.run = training.run.key;
    evaluation.version = training.model.version();
    evaluation.published = training.published_hash;
    evaluation.accuracy = accuracy;
    project.state().store.insert_evaluation(evaluation);
    keep(training.evaluations, evaluation);
  });
}

// Finished, with this in the reason, and its ledger replays.
void check_ended(ProjectFixture& project, const std::string& why) {
  const Run run = project.state().store.runs().at(0);
  CHECK(run.state == RunState::finished);
  CAPTURE(run.state_reason);
  CHECK(run.state_reason.find(why) != std::string::npos);
  CHECK(std::holds_alternative<RunEnded>(project.ledger().back().body));
  CHECK(project.events("run_finished") == 1);
  check_ledger(project);
}

}  // namespace

TEST_CASE("a run ends when an evaluated version is good enough") {
  ProjectFixture project({.quorum = 1, .epochs = 4, .house_workers = 1});
  const Volunteer ann = project.join();
  project.report(ann, project.take(ann));
  project.report(ann, project.take(ann));
  change(project, {{"until", {{"accuracy", 0.8}}}});
  CHECK(status::run(project.state(), project.run())["until"] == "accuracy=0.8");
  evaluate(project, 0.79);
  REQUIRE(project.run().run.state == RunState::running);
  const Assignment under_way = project.take(ann);
  evaluate(project, 0.8);
  check_ended(project, "accuracy 0.8");
  CHECK(project.ask(ann).assignments.empty());
  CHECK_FALSE(project.report(ann, under_way).accepted);
}

TEST_CASE("time counts from the first unit on, without pauses and downtime") {
  ProjectFixture project({.quorum = 1, .epochs = 9, .on_disk = true});
  const Volunteer ann = project.join();
  change(project, {{"until", {{"time", "10 min"}}}});
  project.pass(Seconds(3600));  // nobody works
  REQUIRE(project.run().run.state == RunState::running);
  project.report(ann, project.take(ann));
  project.pass(Seconds(240));
  move(project, RunState::running, RunState::paused);
  project.pass(Seconds(3600));
  move(project, RunState::paused, RunState::running);
  project.clock.advance(Seconds(3600));
  project.reopen();
  CHECK(project.run().cursor.used.seconds_at_work == doctest::Approx(240));
  CHECK(project.run().run.until.seconds == 600);
  project.pass(Seconds(300));
  REQUIRE(project.run().run.state == RunState::running);
  project.pass(Seconds(61));
  check_ended(project, "at work for 10min");
}

TEST_CASE("a run ends when hosts' time has cost enough") {
  ProjectFixture project({.quorum = 1, .epochs = 9});
  const Volunteer ann = project.join();
  project.settings.price_gpu = 3600;           // a second costs 1
  const Assignment first = project.take(ann);  // on "reference"
  const double each = project.run().cursor.used.cost;
  REQUIRE(each > 0);
  CHECK(each == doctest::Approx(project.run().cursor.used.host_seconds));
  change(project, {{"until", {{"cost", 2.5 * each}}}});
  project.report(ann, first);
  project.report(ann, project.take(ann));
  REQUIRE(project.run().run.state == RunState::running);
  project.take(ann);
  check_ended(project, "has cost");
}

TEST_CASE("an end that was set aside does not come") {
  ProjectFixture project({.quorum = 1, .epochs = 9});
  const Volunteer ann = project.join();
  change(project, {{"until", {{"time", "10 s"}}}});
  project.report(ann, project.take(ann));
  change(project, {{"until", {{"time", "none"}}}});
  project.pass(Seconds(60));
  CHECK(project.run().run.state == RunState::running);
  CHECK(project.run().run.until.is_empty());
}

TEST_CASE("behind a barrier an epoch begins when the last one is closed") {
  for (const std::string rule : {"vc-asgd", "sync"}) {
    CAPTURE(rule);
    ProjectFixture project({.rule = rule,
                            .quorum = 1,
                            .local_steps = 11,
                            .epochs = 2,
                            .round_units = 2});
    const bool is_in_rounds = project.run().rule->in_rounds();
    const Volunteer ann = project.join(), bob = project.join();
    change(project, {{"epoch_barrier", true}});
    // Three units are an epoch: a round and a half.
    const Assignment first = project.take(ann);
    const Assignment second = project.take(bob);
    if (is_in_rounds) {
      project.report(ann, first);
      project.report(bob, second);
    } else {
      project.report(ann, first);
    }
    const Assignment third = project.take(ann);
    CHECK(project.unit_of(third.result).epoch == 0);
    CHECK(project.ask(bob, 1, {second.result}).assignments.empty());
    WorkWish wish;
    wish.want = 1;
    wish.wait = Seconds(20);
    if (!is_in_rounds) wish.holding = {second.result};
    const auto answer = project.ask_later(bob, wish);
    CHECK_FALSE(answer->has_value());
    project.report(ann, third);
    if (!is_in_rounds) {
      CHECK_FALSE(answer->has_value());
      project.report(bob, second);
    }
    REQUIRE(answer->has_value());
    REQUIRE((*answer)->assignments.size() == 1);
    const ResultId next = (*answer)->assignments[0].result;
    CHECK(project.unit_of(next).epoch == 1);
    project.report(bob, (*answer)->assignments[0]);
    project.train_to_end({ann, bob});
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

}  // namespace quorate
