#include "server/sealed_tasks.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using namespace test;

TEST_CASE("the store gives a task back as it was sealed") {
  ProjectFixture project;
  Assignment given = project.take(project.join());
  Bytes sealed =
      sealed_task_of(project.state().store, given.objects.at(0).hash);
  CHECK(sha256(sealed) == given.objects.at(0).hash);
  CHECK(sealed.size() == given.objects.at(0).size);
  CHECK(task_in(sealed).snapshot == given.objects.at(1).hash);
  CHECK(task_in(sealed).shard == given.objects.at(2).hash);
}

TEST_CASE("a task that is missing or cut short is corrupt") {
  ProjectFixture project;
  Hash unknown = sha256(as_bytes("no unit"));
  try {
    sealed_task_of(project.state().store, unknown);
    FAIL("found a task of no unit");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    CHECK(std::string(error.what()).find(unknown.hex()) != std::string::npos);
  }
  CHECK_THROWS_AS(task_in(Bytes(63)), Error);
  CHECK_THROWS_AS(task_in(Bytes(200)), Error);
}

}  // namespace
}  // namespace quorate
