// Hosts of a run whose versions are rounded fetch changes.
#include <algorithm>

#include <doctest/doctest.h>

#include "server/making/work_generator.h"
#include "tests/server/merging/revoking.h"
#include "tests/server/project_fixture.h"
#include "validator/replay.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/snapshot_delta.h"

namespace quorate {
namespace {

using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions rounded() {
  ProjectOptions options;
  options.rule = "diloco";
  options.rule_settings = R"({"snapshots":"int4"})";
  options.quorum = 1;
  options.round_units = 1;
  options.local_steps = 2;
  options.model = "mlp:64";
  return options;
}

const ObjectRef& snapshot_of(const Assignment& assignment) {
  return assignment.objects.at(1);
}

}  // namespace

TEST_CASE("from the second version on a delta leads to the snapshot") {
  ProjectFixture project(rounded());
  const Volunteer vera = project.join();
  std::vector<Assignment> taken;
  for (int i = 0; i < 4; ++i) {
    taken.push_back(project.take(vera));
    if (i < 3) project.report(vera, taken.back());
  }
  CHECK(taken[0].deltas.empty());
  const ModelSpec& model = project.run().run.model;
  const ObjectStore& objects = project.state().objects;
  std::vector<float> values = read_parameters(
      model, objects.map_checked(snapshot_of(taken[0]).hash).bytes(), "first");
  std::uint64_t bytes = 0;
  const std::vector<SnapshotStep>& way = taken[3].deltas;
  REQUIRE(way.size() == 3);
  CHECK(way[0].from == snapshot_of(taken[0]).hash);
  CHECK(way[1].from == snapshot_of(taken[1]).hash);
  CHECK(way[2].from == snapshot_of(taken[2]).hash);
  for (const SnapshotStep& step : way) {
    // Only who has a result that needs it may fetch it.
    CHECK(project.state().open_results.names(step.delta.hash));
    apply_snapshot_delta(model, objects.map_checked(step.delta.hash).bytes(),
                         values, "delta");
    bytes += step.delta.size;
  }
  CHECK(parameter_parts(model, values).hash() == snapshot_of(taken[3]).hash);
  CHECK(bytes < snapshot_of(taken[3]).size);
  project.report(vera, taken[3]);
  CHECK_FALSE(project.state().open_results.names(way[0].delta.hash));
}

TEST_CASE("the way is never longer than the snapshot") {
  ProjectOptions options = rounded();
  options.local_steps = 1;
  ProjectFixture project(options);
  const Volunteer vera = project.join();
  std::size_t longest = 0;
  for (int i = 0; i < 20; ++i) {
    const Assignment taken = project.take(vera);
    std::uint64_t bytes = 0;
    for (const SnapshotStep& step : taken.deltas) bytes += step.delta.size;
    CHECK(bytes < snapshot_of(taken).size);
    longest = std::max(longest, taken.deltas.size());
    project.report(vera, taken);
  }
  CHECK(longest > 3);
  CHECK(longest <= 8);
}

TEST_CASE("after a restart the model goes on with the same bits") {
  ProjectOptions options = rounded();
  options.on_disk = true;
  ProjectFixture project(options);
  const Volunteer vera = project.join();
  for (int i = 0; i < 3; ++i) project.report(vera, project.take(vera));
  const std::vector<float> before = project.run().model.parameters();
  project.reopen();
  CHECK(project.run().model.parameters() == before);
  // The first snapshot after it is fetched whole, the next by its delta.
  Assignment next = project.take(vera);
  CHECK(next.deltas.empty());
  project.report(vera, next);
  CHECK(project.take(vera).deltas.size() == 1);
}

TEST_CASE("deltas that lead nowhere any more are removed, the others stay") {
  ProjectOptions options = rounded();
  options.local_steps = 1;
  options.on_disk = true;
  ProjectFixture project(options);
  const Volunteer vera = project.join();
  std::vector<Hash> seen;
  for (int i = 0; i < 24; ++i) {
    const Assignment taken = project.take(vera);
    if (!taken.deltas.empty()) seen.push_back(taken.deltas.back().delta.hash);
    project.report(vera, taken);
  }
  const ObjectStore& objects = project.state().objects;
  CHECK_FALSE(objects.contains(seen.front()));
  const auto& kept = project.run().deltas;
  REQUIRE_FALSE(kept.empty());
  for (const SnapshotStep& step : kept) {
    CHECK(objects.contains(step.delta.hash));
  }
}

TEST_CASE("a unit is as long as what its host fetches and sends takes") {
  // A model for which a usual link is slower than the work of five steps.
  Run run;
  run.model = parse_model("mlp:4096", {28, 28, 1}, 10);
  run.codec = Codec::int4;
  run.local_steps = 0;
  run.batch = 1;
  run.epochs = 1;
  Pace pace{1e10, 1e10, 1};
  pace.least_seconds = 0;
  pace.in_rounds = true;
  auto steps = [&](Codec snapshots) {
    pace.snapshots = snapshots;
    return next_unit(run, {}, {0, 100'000, 0}, 1'000'000, pace).range.steps;
  };
  CHECK(steps(Codec::fp32) > 2 * steps(Codec::int4));
}

TEST_CASE("after a revocation the model is fetched whole, then by deltas") {
  ProjectFixture project(rounded());
  const Volunteer vera = project.join();
  std::vector<Assignment> taken;
  for (int i = 0; i < 4; ++i) {
    taken.push_back(project.take(vera));
    project.report(vera, taken.back());
  }
  test::revoke(project, taken[1].result);
  const Assignment whole = project.take(vera);
  CHECK(whole.deltas.empty());
  project.report(vera, whole);
  const Assignment next = project.take(vera);
  REQUIRE(next.deltas.size() == 1);
  CHECK(next.deltas[0].from == snapshot_of(whole).hash);
  project.report(vera, next);
  test::check_ledger(project);
}

TEST_CASE("a run with rounded versions replays") {
  ProjectFixture project(rounded());
  const std::vector<Volunteer> all{project.join(), project.join()};
  project.train_to_end(all);
  const ReplayReport report =
      replay(project.ledger_sources(),
             ReplayOptions{.max_memory_bytes = std::uint64_t{1} << 30});
  CHECK(report.ledger.ok());
  CHECK(report.parameters == parameter_parts(project.run().run.model,
                                             project.run().model.parameters())
                                 .hash());
}

}  // namespace quorate
