#include "server/settings/project_folder.h"

#include <doctest/doctest.h>

#include "tests/support/temporary_folder.h"

namespace quorate {

TEST_CASE("other users of the machine stay out of a project") {
  test::TemporaryFolder folder;
  ProjectFolder project{folder / "some" / "project"};
  SUBCASE("in a new folder") {}
  SUBCASE("in one that others could enter") {
    fs::create_directories(project.root);
    fs::permissions(project.root, fs::perms{0755});
  }
  create_project(project, "Private", "");
  CHECK(fs::status(project.root).permissions() == fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(project.root)) {
    if (!entry.is_directory()) continue;
    CAPTURE(entry.path());
    CHECK(entry.status().permissions() == fs::perms::owner_all);
  }
  CHECK(fs::status(project.root.parent_path()).permissions() !=
        fs::perms::owner_all);
}

}  // namespace quorate
