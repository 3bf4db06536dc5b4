#include "client/worker/boinc/boinc_channels.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/client/worker/boinc/boinc_files.h"

namespace quorate::worker {

TEST_CASE("a text goes from one side to the other, once") {
  BoincFiles files;
  BoincChannels task(files.folder() / "boinc_mmap_file");
  BoincChannels client(files.folder() / "boinc_mmap_file");
  CHECK_FALSE(task.receive(BoincChannel::orders));
  CHECK(client.send(BoincChannel::orders, "<suspend/>"));
  CHECK_FALSE(task.receive(BoincChannel::heartbeat));
  CHECK(task.receive(BoincChannel::orders) == "<suspend/>");
  CHECK_FALSE(task.receive(BoincChannel::orders));
}

TEST_CASE("a text that was not taken is not overwritten") {
  BoincFiles files;
  BoincChannels task(files.folder() / "boinc_mmap_file");
  BoincChannels client(files.folder() / "boinc_mmap_file");
  CHECK(task.send(BoincChannel::status, "first, and long"));
  CHECK_FALSE(task.send(BoincChannel::status, "second"));
  CHECK(client.receive(BoincChannel::status) == "first, and long");
  CHECK(task.send(BoincChannel::status, "third"));
  CHECK(client.receive(BoincChannel::status) == "third");
  CHECK(task.send(BoincChannel::status, std::string(1022, 'x')));
  CHECK(client.receive(BoincChannel::status)->size() == 1022);
}

TEST_CASE("the bytes are those that clients expect") {
  BoincFiles files;
  BoincChannels task(files.folder() / "boinc_mmap_file");
  task.send(BoincChannel::status, "abc");
  std::string bytes = files.read("boinc_mmap_file");
  CHECK(bytes.substr(5 * 1024, 5) == std::string("\1abc\0", 5));
  CHECK(bytes.substr(0, 5 * 1024) == std::string(5 * 1024, '\0'));
}

TEST_CASE("a text without end ends with its channel") {
  BoincFiles files;
  files.write("boinc_mmap_file", std::string(8192, 'x'));
  BoincChannels task(files.folder() / "boinc_mmap_file");
  CHECK(task.receive(BoincChannel::answers) == std::string(1023, 'x'));
}

TEST_CASE("a file that is missing or too short is refused") {
  BoincFiles files;
  files.write("boinc_mmap_file", std::string(8191, '\0'));
  CHECK_THROWS_WITH_AS(BoincChannels(files.folder() / "boinc_mmap_file"),
                       doctest::Contains("expected 8192 bytes"), Error);
  CHECK_THROWS_AS(BoincChannels(files.folder() / "no_file"), Error);
}

}  // namespace quorate::worker
