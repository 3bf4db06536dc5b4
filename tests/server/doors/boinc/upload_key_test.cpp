#include "server/doors/boinc/files/upload_key.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "server/settings/project_folder.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {

TEST_CASE("the key of a project is made once, for its owner only") {
  quorate::test::TemporaryFolder folder;
  ProjectFolder project{folder / "project"};
  create_project(project, "Test", "");
  const fs::path path = project.boinc_upload_key();
  CHECK_FALSE(fs::exists(path));
  const UploadKey key = open_upload_key(path);
  CHECK_FALSE(key.is_zero());
  CHECK(open_upload_key(path) == key);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(read_text_file(path) == key.hex() + "\n");
  CHECK(open_upload_key(folder / "another") != key);
}

TEST_CASE("a key that others may read, or that is none, is refused") {
  quorate::test::TemporaryFolder folder;
  const fs::path path = folder / "key";
  write_file_durably(path, as_bytes(std::string(64, 'a')), 0644);
  CHECK_THROWS_AS(open_upload_key(path), Error);
  for (std::string text : {"", "\n", "ab\n", "0x"}) {
    write_file_durably(path, as_bytes(text), 0600);
    CHECK_THROWS_AS(open_upload_key(path), Error);
  }
  write_file_durably(path, as_bytes(std::string(65, 'a')), 0600);
  CHECK_THROWS_AS(open_upload_key(path), Error);
}

}  // namespace quorate::boinc
