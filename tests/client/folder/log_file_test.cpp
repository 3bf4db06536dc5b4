#include "client/folder/log_file.h"

#include <fstream>

#include <doctest/doctest.h>

#include "base/log.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

struct Fixture {
  test::TemporaryFolder folder;
  LogReader reader{folder.path()};

  void append(const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::app) << text;
  }
};

TEST_CASE_FIXTURE(Fixture, "the last lines, over both files") {
  CHECK(reader.last(5).empty());
  append("client.1.log", "one\ntwo\n");
  append("client.log", "three\nfour\n");
  CHECK(reader.last(0).empty());
  CHECK(reader.last(1) == "four\n");
  CHECK(reader.last(3) == "two\nthree\nfour\n");
  CHECK(reader.last(9) == "one\ntwo\nthree\nfour\n");
}

TEST_CASE_FIXTURE(Fixture, "empty lines are lines") {
  append("client.log", "\n\n");
  CHECK(reader.last(1) == "\n");
  CHECK(reader.last(2) == "\n\n");
}

TEST_CASE_FIXTURE(Fixture, "what comes later is followed, line by line") {
  append("client.log", "one\nhal");
  CHECK(reader.last(9) == "one\n");
  CHECK(reader.more().empty());
  append("client.log", "f\nnext\n");
  CHECK(reader.more() == "half\nnext\n");
  CHECK(reader.more().empty());
}

TEST_CASE_FIXTURE(Fixture, "a log that begins later is followed, too") {
  CHECK(reader.last(9).empty());
  append("client.log", "one\n");
  CHECK(reader.more() == "one\n");
}

TEST_CASE_FIXTURE(Fixture, "nothing is lost when the log is moved aside") {
  append("client.log", "one\n");
  reader.last(9);
  append("client.log", "two\n");
  fs::rename(folder / "client.log", folder / "client.1.log");
  append("client.log", "three\n");
  CHECK(reader.more() == "two\nthree\n");
}

TEST_CASE_FIXTURE(Fixture, "a log that was emptied is read from its start") {
  append("client.log", "one\ntwo\n");
  reader.last(9);
  fs::resize_file(folder / "client.log", 0);
  append("client.log", "new\n");
  CHECK(reader.more() == "new\n");
}

TEST_CASE_FIXTURE(Fixture, "what the logger writes is what is read") {
  start_logging(LogLevel::info,
                RotatingLog{log_file(folder.path()).string(), 2000});
  for (int i = 0; i < 60; ++i) log_info("event", {{"number", i}});
  start_logging(LogLevel::info);
  std::string text = reader.last(2);
  CHECK(text.find("number=58") != std::string::npos);
  CHECK(text.find("number=59") != std::string::npos);
}

}  // namespace
}  // namespace quorate::client
