// Shares, ends and barriers, as they are typed.
#include "server/orders/runs/run_sharing.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "server/orders/runs/change_run.h"
#include "tests/server/orders/run_changes.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::change;
using test::ProjectFixture;
using test::refusal_of_change;
using test::Volunteer;

}  // namespace

TEST_CASE("a run's share changes, and nothing else of it") {
  ProjectFixture project({.rule = "sync", .on_disk = true});
  const Volunteer ann = project.join();
  const Assignment under_way = project.take(ann);
  const std::size_t entries = project.ledger().size();
  change(project, {{"share", 2.5}, {"until", {{"time", "6h"}}}});
  CHECK(project.ledger().size() == entries);
  CHECK(project.unit_of(under_way.result).state == WorkunitState::open);
  project.reopen();
  CHECK(project.run().run.share == 2.5);
  CHECK(project.run().run.until.seconds == 21'600);
  change(project, {{"until", {{"cost", "none"}}}});
  CHECK(project.run().run.until.seconds == 21'600);
  change(project, {{"share", 1}, {"why", "enough of it"}});
  CHECK(project.ledger().size() == entries);
  CHECK(project.unit_of(under_way.result).state == WorkunitState::open);
}

TEST_CASE("what cannot be is refused, and says what can") {
  ProjectFixture project;
  const std::pair<json, const char*> wrong[] = {
      {{{"share", -1}}, "--share: expected a number from 0 to 1000"},
      {{{"share", 0.0001}}, "--share: expected 0 or a number from 0.001"},
      {{{"share", "much"}}, "--share: expected a number"},
      {{{"until", {{"accuracy", 1.5}}}}, "accuracy=1.5"},
      {{{"until", {{"accuracy", 0}}}}, "accuracy=0"},
      {{{"until", {{"loss", 1}}}}, "loss=1"},
      {{{"until", {{"time", "soon"}}}}, "time=soon"},
      {{{"until", {{"time", -1}}}}, "time=-1"},
      {{{"until", "soon"}}, "--until: expected accuracy=0.9"},
      {{{"until", {{"accuracy", 0.9}}}}, "nobody evaluates versions"},
      {{{"until", {{"cost", 5}}}}, "price_cpu"},
      {{{"epoch_barrier", "yes"}}, "--epoch-barrier: expected true or false"}};
  for (const auto& [wishes, part] : wrong) {
    const std::string said = refusal_of_change(project, wishes);
    CAPTURE(said);
    CHECK(said.find(part) != std::string::npos);
    CHECK(project.run().run.share == 1);
    CHECK(project.run().run.until.is_empty());
  }
}

}  // namespace quorate
