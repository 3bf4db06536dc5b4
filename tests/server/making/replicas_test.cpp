// Rules with replicas (easgd, sync-easgd, gossip) through the daemons.
#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"
#include "workunits/objects/replica_exchange.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions with_replicas(const char* rule, const char* settings) {
  ProjectOptions options;
  options.rule = rule;
  options.rule_settings = settings;
  options.quorum = 1;
  options.epochs = 4;
  options.on_disk = true;
  return options;
}

constexpr const char* kTwo = "{\"replicas\":2}";

std::uint32_t replica_of_unit(ProjectFixture& project, ResultId id) {
  return project.state().feeder.find_by_result(id)->task->replica.value();
}

TEST_CASE("a replica is trained by one unit at a time") {
  ProjectFixture project(with_replicas("gossip", kTwo));
  Volunteer a = project.join();
  Volunteer b = project.join();
  Volunteer c = project.join();
  Assignment first = project.take(a);
  Assignment second = project.take(b);
  CHECK(replica_of_unit(project, first.result) == 0);
  CHECK(replica_of_unit(project, second.result) == 1);
  // Nothing is left for a third, until a replica is free.
  WorkWish request;
  request.want = 1;
  request.wait = Seconds(20);
  auto waiting = project.ask_later(c, request);
  CHECK(!waiting->has_value());
  project.report(b, second);
  REQUIRE(waiting->has_value());
  REQUIRE((*waiting)->assignments.size() == 1);
  CHECK(replica_of_unit(project, (*waiting)->assignments[0].result) == 1);
}

TEST_CASE("a replica of sync-easgd waits for the round's others") {
  ProjectFixture project(with_replicas("sync-easgd", kTwo));
  Volunteer a = project.join();
  Volunteer b = project.join();
  const std::vector<float> begun = project.run().model.parameters();
  Assignment first = project.take(a);
  Assignment second = project.take(b);
  project.report(a, first);
  WorkWish request;
  request.want = 1;
  request.wait = Seconds(20);
  auto waiting = project.ask_later(a, request);
  CHECK(!waiting->has_value());
  CHECK(project.run().model.parameters() == begun);
  // a restarted server knows who has arrived
  project.reopen();
  waiting = project.ask_later(a, request);
  CHECK(!waiting->has_value());
  project.report(b, second);
  CHECK(project.run().model.parameters() != begun);
  REQUIRE(waiting->has_value());
  REQUIRE((*waiting)->assignments.size() == 1);
  project.report(a, (*waiting)->assignments[0]);
  project.train_to_end({a, b});
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

TEST_CASE("a unit starts from what its replica has become") {
  ProjectFixture project(with_replicas("easgd", kTwo));
  Volunteer a = project.join();
  Volunteer b = project.join();
  Assignment first = project.take(a);
  Assignment second = project.take(b);
  CHECK(project.unit_of(first.result).snapshot ==
        project.unit_of(second.result).snapshot);
  project.report(a, first);
  Assignment third = project.take(a);
  const Hash snapshot = project.unit_of(third.result).snapshot;
  CHECK(snapshot != project.unit_of(second.result).snapshot);
  const std::vector<float> base = read_parameters(
      project.run().run.model, project.state().objects.read(snapshot), "base");
  CHECK(base == project.run().model.rule_state().at("easgd.x.0"));
  CHECK(base != project.run().model.parameters());
}

// Among hosts: what a host is told is what the server did.
TEST_CASE("a host can make the next snapshot of its replica itself") {
  ProjectFixture project(
      with_replicas("gossip", "{\"among\":\"hosts\",\"replicas\":2}"));
  Volunteer a = project.join();
  Volunteer b = project.join();
  Assignment mine = project.take(a);
  CHECK(!mine.exchange);
  const Assignment others = project.take(b);
  for (int unit = 0; unit < 3; ++unit) {
    const Hash from = project.unit_of(mine.result).snapshot;
    const TrainingTask task =
        *project.state().feeder.find_by_result(mine.result)->task;
    project.report(a, mine);
    mine = project.take(a);
    CHECK(replica_of_unit(project, mine.result) == 0);
    REQUIRE(mine.exchange);
    CHECK(mine.exchange->from == from);
    CHECK(mine.exchange->met == project.unit_of(others.result).snapshot);
    const ObjectStore& objects = project.state().objects;
    std::vector<float> replica =
        read_parameters(task.model, objects.read(from), "replica");
    exchange_replica(
        replica,
        decode_update(task, objects.read(mine.exchange->update), "update"),
        read_parameters(task.model, objects.read(mine.exchange->met), "met"));
    CHECK(parameter_parts(task.model, replica).hash() ==
          project.unit_of(mine.result).snapshot);
  }
  // Another host has nothing to do until one of the replicas is its own.
  CHECK(project.ask(project.join(), 1).assignments.empty());
}

TEST_CASE("replicas go on where they were after a restart, and replay") {
  for (const char* settings :
       {"{\"replicas\":3}", "{\"exchange\":\"push\",\"replicas\":3}",
        "{\"exchange\":\"push-sum\",\"replicas\":3}"}) {
    CAPTURE(settings);
    ProjectFixture project(with_replicas("gossip", settings));
    Volunteer a = project.join();
    Volunteer b = project.join();
    for (int i = 0; i < 3; ++i) {
      Assignment mine = project.take(a);
      Assignment other = project.take(b);
      project.report(b, other);
      project.report(a, mine);
    }
    // given a unit under way
    Assignment kept = project.take(a);
    const std::uint32_t replica = replica_of_unit(project, kept.result);
    const RuleState state = project.run().model.rule_state();
    // when the server starts again
    project.reopen();
    // then all replicas are as they were, and the unit is still its replica's
    CHECK(project.run().model.rule_state() == state);
    CHECK(replica_of_unit(project, kept.result) == replica);
    project.report(a, kept);
    project.train_to_end({a, b});
    CHECK(project.run().run.state == RunState::finished);
    CHECK(project.assimilated().size() == 20);
    check_ledger(project);
  }
}

TEST_CASE("the replica of a unit that failed is trained by another") {
  ProjectFixture project(with_replicas("eamsgd", "{\"replicas\":1}"));
  Volunteer first = project.join();
  Assignment failing = project.take(first);
  WorkunitId unit = project.unit_of(failing.result).id;
  project.give_up(first, failing.result, "no");
  for (int i = 0; i < 40 && project.state().feeder.find(unit); ++i) {
    Volunteer who = project.join();
    project.give_up(who, project.take(who).result, "no");
  }
  Volunteer last = project.join();
  Assignment next = project.take(last);
  CHECK(project.unit_of(next.result).id != unit);
  CHECK(replica_of_unit(project, next.result) == 0);
  project.report(last, next);
  CHECK(project.run().model.version() == 1);
  check_ledger(project);
}

}  // namespace
}  // namespace quorate
