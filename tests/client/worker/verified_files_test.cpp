#include "client/worker/units/verified_files.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::worker {
namespace {

std::string write(const test::TemporaryFolder& folder, const char* name,
                  std::string_view text) {
  write_file_durably(folder / name, as_bytes(text));
  return folder / name;
}

}  // namespace

TEST_CASE("a file with its hash is given again without being read again") {
  test::TemporaryFolder folder;
  VerifiedFiles files;
  Hash hash = sha256(as_bytes("one"));
  std::string path = write(folder, "a", "one");
  ByteView first = files.get(path, hash, "shard");
  ByteView second = files.get(path, hash, "shard");
  CHECK(as_text(first) == "one");
  CHECK(first.data() == second.data());
}

TEST_CASE("a file that changed is checked again") {
  test::TemporaryFolder folder;
  VerifiedFiles files;
  Hash hash = sha256(as_bytes("one"));
  std::string path = write(folder, "a", "one");
  files.get(path, hash, "shard");
  write(folder, "a", "two");
  CHECK_THROWS_AS(files.get(path, hash, "shard"), Error);
  CHECK(as_text(files.get(path, sha256(as_bytes("two")), "shard")) == "two");
}

TEST_CASE("views stay valid while no more than four others are asked for") {
  test::TemporaryFolder folder;
  VerifiedFiles files;
  std::vector<ByteView> views;
  for (const char* name : {"a", "b", "c", "d"}) {
    std::string path = write(folder, name, name);
    views.push_back(files.get(path, sha256(as_bytes(name)), "shard"));
  }
  CHECK(as_text(views[0]) == "a");
  CHECK(as_text(views[3]) == "d");
}

TEST_CASE("an empty file and a missing one are told apart") {
  test::TemporaryFolder folder;
  VerifiedFiles files;
  std::string path = write(folder, "empty", "");
  CHECK(files.get(path, sha256({}), "shard").empty());
  try {
    files.get(folder / "missing", sha256({}), "shard");
    FAIL("read a missing file");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
}

}  // namespace quorate::worker
