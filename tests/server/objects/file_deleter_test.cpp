#include "server/objects/file_deleter.h"

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
       project.state().store.workunits({project.run().run.key}, {1000})) {
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
  project.report(user, project.take(user));
  Assignment second = project.take(user);
  const Hash shared = second.objects.at(1).hash;
  REQUIRE(project.run().own_snapshots.contains(shared));
  TrainingRun twin(project.run().run, {}, {}, project.run().dataset,
                   make_update_rule("vc-asgd", ""),
                   ModelState(project.run().model.parameters()));
  CHECK(twin.snapshot(project.state().objects) == shared);
  project.report(user, second);
  project.train_to_end({user});
  CHECK(project.state().objects.contains(shared));
  CHECK_FALSE(project.run().own_snapshots.contains(shared));
}

// A snapshot has the form of an update: a host may upload the one that it got,
// and with quorum 1 it is believed.
TEST_CASE("a snapshot that a host claims as its update stays") {
  ProjectFixture project(ProjectOptions{.quorum = 1, .local_steps = 2});
  Volunteer user = project.join();
  project.report(user, project.take(user));
  Assignment second = project.take(user);
  const Hash base = second.objects.at(1).hash;
  REQUIRE(project.run().own_snapshots.contains(base));
  test::Forgery copy;
  copy.result = [&](TrainingResult& result) {
    result.update = project.state().objects.read(base);
    result.claim.update = base;
  };
  REQUIRE(project.report(user, second, copy).accepted);
  project.train_to_end({user});
  CHECK(project.assimilated().at(1).update == base);
  CHECK(project.state().objects.contains(base));
  test::check_ledger(project);
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
