#include "server/units/sealed_tasks.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using namespace test;

std::string fault_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "none";
}

TEST_CASE("the store gives a task back as it was sealed") {
  ProjectFixture project;
  Assignment given = project.take(project.join());
  ProjectState& state = project.state();
  const Hash& object = given.objects.at(0).hash;
  Bytes sealed = sealed_task_of(state.store, state.objects, object);
  CHECK(sha256(sealed) == object);
  CHECK(sealed.size() == given.objects.at(0).size);
  TrainingTask task = task_of(state.store, state.objects, object);
  CHECK(task.snapshot == given.objects.at(1).hash);
  CHECK(task.shard == given.objects.at(2).hash);
}

TEST_CASE("a task that is missing or changed is corrupt, and named") {
  ProjectFixture project;
  ProjectState& state = project.state();
  Hash unknown = sha256(as_bytes("no unit"));
  CHECK(fault_of([&] {
          sealed_task_of(state.store, state.objects, unknown);
        }).find(unknown.hex()) != std::string::npos);
  Workunit unit;
  unit.run = project.run().run.key;
  unit.object = unknown;
  project.job([&] {
    unit.id = state.store.insert_workunits({&unit, 1}).at(0);
    unit.state = WorkunitState::failed;  // nobody gets it
    state.store.update_workunits({&unit, 1});
    SealedTask task{unit.id, Bytes(200)};
    state.store.insert_sealed_tasks({&task, 1});
  });
  CHECK(fault_of([&] {
          sealed_task_of(state.store, state.objects, unknown);
        }).find("its task changed on disk") != std::string::npos);
  CHECK(fault_of([&] { task_in(Bytes(63), unknown); }).find(unknown.hex()) !=
        std::string::npos);
  CHECK(fault_of([&] { task_in(Bytes(200), unknown); }) != "none");
}

}  // namespace
}  // namespace quorate
