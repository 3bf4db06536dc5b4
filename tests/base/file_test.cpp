#include "base/file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

// Runs `body` in a child process; true if it ended with exit code 0.
template <class Body>
bool holds_in_child(Body body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_lock(const fs::path& path) {
  try {
    FileLock lock(path);
    return true;
  } catch (const Error& error) {
    return error.kind() != ErrorKind::denied;
  }
}

}  // namespace

TEST_CASE("a durable write replaces the whole file and leaves nothing beside") {
  test::TemporaryFolder folder;
  write_file_durably(folder / "file", as_bytes("a longer old text"));
  write_file_durably(folder / "file", as_bytes("new"), 0600);
  CHECK(read_text_file(folder / "file") == "new");
  CHECK(files_in(folder.path()) == 1);
  struct stat status {};
  REQUIRE(::stat((folder / "file").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a durable write that fails leaves the old content") {
  test::TemporaryFolder folder;
  fs::create_directory(folder / "taken");
  write_file_durably(folder / "taken" / "inside", as_bytes("x"));
  // a folder that is not empty cannot be replaced by a file
  CHECK_THROWS_AS(write_file_durably(folder / "taken", as_bytes("y")), Error);
  CHECK(files_in(folder.path()) == 1);
  CHECK_THROWS_AS(write_file_durably(folder / "none" / "file", as_bytes("y")),
                  Error);
}

TEST_CASE("a read is bounded") {
  test::TemporaryFolder folder;
  write_file_durably(folder / "file", as_bytes("12345"));
  CHECK(as_text(read_file(folder / "file", 5)) == "12345");
  try {
    read_file(folder / "file", 4);
    FAIL("read more than allowed");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
  }
  try {
    read_file(folder / "none");
    FAIL("read what is not there");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
}

TEST_CASE("a map shows the file and moves") {
  test::TemporaryFolder folder;
  write_file_durably(folder / "file", as_bytes("mapped"));
  write_file_durably(folder / "empty", {});
  MappedFile first(folder / "file");
  MappedFile second = std::move(first);
  CHECK(as_text(second.bytes()) == "mapped");
  CHECK(MappedFile(folder / "empty").bytes().empty());
  CHECK_THROWS_AS(MappedFile(folder / "none"), Error);
}

TEST_CASE("a lock keeps other processes out until it ends") {
  test::TemporaryFolder folder;
  fs::path path = folder / "lock";
  {
    FileLock lock(path);
    CHECK(read_text_file(path) == std::to_string(::getpid()));
    CHECK(holds_in_child([&] { return !can_lock(path); }));
  }
  CHECK(holds_in_child([&] { return can_lock(path); }));
}

TEST_CASE("only the owner can open a lock") {
  test::TemporaryFolder folder;
  fs::path path = folder / "lock";
  for (int i = 0; i < 2; ++i) {
    FileLock lock(path);
    CHECK(fs::status(path).permissions() == fs::perms{0600});
    fs::permissions(path, fs::perms{0644});  // as by an older version
  }
}

TEST_CASE("a private folder is its owner's, also if it was there") {
  test::TemporaryFolder folder;
  fs::path path = folder / "above" / "private";
  for (int i = 0; i < 2; ++i) {
    make_private_folder(path);
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    fs::permissions(path, fs::perms{0755});
  }
  write_file_durably(folder / "file", as_bytes("x"));
  CHECK_THROWS_AS(make_private_folder(folder / "file" / "private"), Error);
}

TEST_CASE("a file descriptor closes once, and moves") {
  test::TemporaryFolder folder;
  FileDescriptor first = open_file(folder / "file", O_RDWR | O_CREAT);
  int raw = first.get();
  FileDescriptor second = std::move(first);
  CHECK(second.get() == raw);
  second.reset();
  CHECK_FALSE(second);
  CHECK(::fcntl(raw, F_GETFD) == -1);
  CHECK_THROWS_AS(open_file(folder / "none", O_RDONLY), Error);
}

TEST_CASE("free space is known, or an error") {
  test::TemporaryFolder folder;
  CHECK(free_space(folder.path()) > 0);
  CHECK_THROWS_AS(free_space(folder / "none"), Error);
}

TEST_CASE("a folder must be its owner's to write") {
  test::TemporaryFolder root;
  auto set = [&](unsigned mode) {
    fs::permissions(root.path(), static_cast<fs::perms>(mode));
  };
  set(0755);
  CHECK_NOTHROW(expect_own_folder(root.path()));
  const std::string mend = "run chmod -R go-w " + root.path().string();
  for (unsigned mode : {0702U, 0777U}) {
    set(mode);
    CHECK_THROWS_WITH_AS(expect_own_folder(root.path()),
                         doctest::Contains(mend.c_str()), Error);
  }
  CHECK_THROWS_AS(expect_own_folder(root / "none"), Error);
}

TEST_CASE("of groups only the owner's private one may write") {
  test::TemporaryFolder root;
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root, to give a folder to a group");
    return;
  }
  fs::permissions(root.path(), static_cast<fs::perms>(0770));
  CHECK_NOTHROW(expect_own_folder(root.path()));
  REQUIRE(::chown(root.path().c_str(), 0, 1) == 0);
  CHECK_THROWS_WITH_AS(expect_own_folder(root.path()),
                       doctest::Contains("other users may write"), Error);
}

TEST_CASE("a folder of somebody else is for root alone") {
  test::TemporaryFolder root;
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root, to give a folder away");
    return;
  }
  REQUIRE(::chown(root.path().c_str(), 12345, 12345) == 0);
  CHECK_NOTHROW(expect_own_folder(root.path()));
  REQUIRE(::seteuid(12346) == 0);
  CHECK_THROWS_WITH_AS(expect_own_folder(root.path()),
                       doctest::Contains("belongs to user 12345"), Error);
  REQUIRE(::seteuid(0) == 0);
}

}  // namespace quorate
