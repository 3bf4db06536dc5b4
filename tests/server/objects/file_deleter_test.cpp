#include "server/objects/file_deleter.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>
#include <variant>

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

std::size_t count_files(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::size_t count_objects(ProjectFixture& project) {
  std::size_t count = 0;
  project.state().objects.list([&](const ObjectReader::Found&) { ++count; });
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

// Of a stock client and of one of ours.
TEST_CASE("what was uploaded goes at once when its result is closed") {
  ProjectOptions options;
  options.on_disk = true;
  options.roles = parse_roles("scheduler,validator");  // which sweep nothing
  ProjectFixture project(options);
  const Volunteer ann = project.join();
  const Assignment begun = project.take(ann);
  const fs::path folder = project.state().folder.uploads();
  FileDeleter deleter(project.state(), project.writer(), project.uploads());
  deleter.start();
  auto pass = [&] { project.job([&] { deleter.pass(); }); };
  project.uploads().keep_header(begun.result, Bytes(300, 4));
  auto opened = project.uploads().open(
      project.state().open_results.find(begun.result).value(), 0, 100);
  auto& payload = std::get<IncomingPayload>(opened);
  payload.write(Bytes(100, 7));
  project.uploads().keep(std::move(payload));
  const std::size_t objects = count_objects(project);
  pass();
  CHECK(count_files(folder) == 2);
  // On the writer's thread, before the daemons settle: this deleter is to see
  // it, not the project's own, which nobody started.
  project.job([&] {
    project.daemons().transitioner.on_failed(ann.host, begun.result, "no");
    deleter.pass();
  });
  for (int i = 0; i < 1000 && count_files(folder) > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(count_files(folder) == 0);
  CHECK(count_objects(project) == objects);
  deleter.stop();
}

TEST_CASE("what is left of an upload goes when its result is closed") {
  ProjectOptions options;
  options.on_disk = true;
  ProjectFixture project(options);
  auto sweep = [&] {
    FileDeleter(project.state(), project.writer(), project.uploads()).sweep();
  };
  const Volunteer ann = project.join(), bob = project.join();
  const Assignment given_up = project.take(ann);
  const Assignment late = project.take(bob);
  for (ResultId id : {given_up.result, late.result}) {
    project.uploads().keep_header(id, Bytes(300, 4));
  }
  project.pass(project.settings.lease + Seconds(1));
  REQUIRE(project.result(late.result).outcome == ResultOutcome::no_reply);
  const Assignment begun = project.take(ann);
  project.uploads().keep_header(begun.result, Bytes(300, 4));
  sweep();
  for (const Assignment* one : {&given_up, &late, &begun}) {
    CHECK(project.uploads().header(one->result));  // it may be reported yet
  }
  project.give_up(ann, begun.result, "no time");
  sweep();
  CHECK_FALSE(project.uploads().header(begun.result));
  CHECK(project.uploads().header(late.result));
}

}  // namespace quorate
