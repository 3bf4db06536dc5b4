#include "server/settings/project_folder.h"

#include <doctest/doctest.h>

#include "base/error.h"
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

TEST_CASE("a project that others may change is not opened") {
  test::TemporaryFolder root;
  ProjectFolder folder{root / "project"};
  create_project(folder, "Test", "");
  CHECK_NOTHROW(load_keys(folder));
  fs::permissions(folder.root, static_cast<fs::perms>(0702));
  const std::string mend = "run chmod -R go-w " + folder.root.string();
  CHECK_THROWS_WITH_AS(load_keys(folder), doctest::Contains(mend.c_str()),
                       Error);
}

}  // namespace quorate
