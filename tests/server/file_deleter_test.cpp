#include "server/file_deleter.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

// Base snapshots of the run's first units that are no longer there.
std::size_t removed(ProjectFixture& project, std::uint64_t units) {
  std::size_t count = 0;
  for (const Workunit& unit :
       project.state().store.workunits(project.run().run.key, {1000})) {
    if (unit.unit_index >= units) continue;
    if (!project.state().objects.contains(unit.snapshot)) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("snapshots that nothing needs go, but not while a backup copies") {
  ProjectOptions options;
  options.quorum = 1;
  options.local_steps = 2;  // 17 units
  ProjectFixture project(options);
  Volunteer user = project.join();
  constexpr std::uint64_t kFirst = 8;
  {
    FileLock backup(project.state().folder.backup_lock());
    for (std::uint64_t i = 0; i < kFirst; ++i) {
      project.report(user, project.take(user));
    }
    CHECK(project.run().published_version >= kFirst - 1);
    CHECK(removed(project, kFirst) == 0);
  }
  project.train_to_end({user});
  // Every second version was published; the others were kept for the backup
  // only.
  CHECK(removed(project, kFirst) == kFirst / 2);
  test::check_ledger(project);
}

TEST_CASE("runs that began alike may share snapshots: they stay") {
  ProjectFixture project(ProjectOptions{.quorum = 1, .local_steps = 2});
  Volunteer user = project.join();
  FileLock backup(project.state().folder.backup_lock());
  for (int i = 0; i < 4; ++i) project.report(user, project.take(user));
  TrainingRun& mine = project.run();
  REQUIRE_FALSE(mine.own_snapshots.empty());
  Run row = mine.run;
  row.key += 1;
  TrainingRun twin(row, {}, mine.dataset,
                   make_update_rule(row.rule, row.rule_settings),
                   ModelState(mine.model.parameters()));
  auto& runs = project.state().runs;
  TrainingRun& other = runs.emplace(row.key, std::move(twin)).first->second;
  CHECK(take_old_snapshots(project.state(), mine).empty());
  other.run.seed += 1;
  CHECK_FALSE(take_old_snapshots(project.state(), mine).empty());
}

// The model stands still, so that many versions have the same bits.
TEST_CASE("what the ledger names stays, though an older version had it too") {
  ProjectOptions options;
  options.quorum = 1;
  options.local_steps = 2;
  ProjectFixture project(options);
  Volunteer user = project.join();
  test::Forgery stands_still;
  stands_still.result = [](TrainingResult& result) {
    auto data = static_cast<std::ptrdiff_t>(4 * result.delta.size());
    std::fill(result.update.end() - data, result.update.end(), 0);
    result.claim.update = sha256(result.update);
  };
  while (project.run().run.state == RunState::running) {
    project.report(user, project.take(user), stands_still);
  }
  CHECK(project.run().published_version > 4);
  test::check_ledger(project);
}

}  // namespace quorate
