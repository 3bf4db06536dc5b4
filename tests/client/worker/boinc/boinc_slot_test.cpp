#include "client/worker/boinc/boinc_slot.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "base/error.h"
#include "tests/client/worker/boinc/boinc_files.h"

namespace quorate::worker {
namespace {

// Whether another process finds the slot taken.
bool is_taken_for_others(const fs::path& folder) {
  pid_t child = ::fork();
  if (child == 0) {
    try {
      BoincSlot slot(folder);
      ::_exit(0);
    } catch (const Error& error) {
      ::_exit(error.kind() == ErrorKind::denied ? 1 : 2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 2);
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("a slot is one process's") {
  BoincFiles files;
  {
    BoincSlot slot(files.folder());
    CHECK(slot.init_data().result == "r1");
    CHECK(slot.init_data().client_pid == ::getpid());
    CHECK(is_taken_for_others(files.folder()));
  }
  CHECK_FALSE(is_taken_for_others(files.folder()));
}

TEST_CASE("a slot without init data is refused") {
  BoincFiles files;
  fs::remove(files.folder() / "init_data.xml");
  CHECK_THROWS_AS(BoincSlot(files.folder()), Error);
  files.write("init_data.xml", "<app_init_data>");
  CHECK_THROWS_WITH_AS(BoincSlot(files.folder()),
                       doctest::Contains("init_data.xml: not XML"), Error);
}

TEST_CASE("a file is where its link says, or itself") {
  BoincFiles files;
  BoincSlot slot(files.folder());
  files.write("shard", "<soft_link>../../projects/p/shard-00ff</soft_link>\n");
  files.write("task", std::string("\0\1\2", 3) + std::string(100000, 'x'));
  CHECK(slot.file("shard") == files.folder() / "../../projects/p/shard-00ff");
  CHECK(slot.file("task") == files.folder() / "task");
  CHECK_THROWS_AS(slot.file("no_file"), Error);
}

TEST_CASE("the files that end a task have the words that clients know") {
  BoincFiles files;
  BoincSlot slot(files.folder());
  slot.finish(0);
  CHECK(files.read("boinc_finish_called") == "0\n");
  slot.finish(kBoincAborted);
  CHECK(files.read("boinc_finish_called") == "194\n");
  slot.postpone(Seconds(59.5), "no memory\non the GPU");
  CHECK(files.read("boinc_temporary_exit") == "60\nno memory on the GPU\n");
}

}  // namespace quorate::worker
