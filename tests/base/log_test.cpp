#include "base/log.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

// Sends the log to a file of its own, and back to standard error.
struct LogFile {
  LogFile() { start_logging(LogLevel::info, (folder / "log").string()); }
  ~LogFile() { start_logging(LogLevel::info); }
  std::string text() const { return read_text_file(folder / "log"); }

  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE("an event is one line of key=value") {
  LogFile log_file;
  log_info("result_valid", {{"result", 7}, {"host", "box"}});
  CHECK(log_file.text().find("result_valid result=7 host=box\n") !=
        std::string::npos);
}

TEST_CASE("a value that could pass for another field is quoted") {
  LogFile log_file;
  log_warning("event", {{"a", "x y"}, {"b", "k=v"}, {"c", ""}, {"d", "\"\\"}});
  CHECK(log_file.text().find(R"(event a="x y" b="k=v" c="" d="\"\\")") !=
        std::string::npos);
}

TEST_CASE("control bytes never reach the log") {
  LogFile log_file;
  log_error("event", {{"name", "a\nfalse_event\x1b[2J\x7f"}});
  std::string text = log_file.text();
  CHECK(text.find(R"(name="a\x0afalse_event\x1b[2J\u007f")") !=
        std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("a level below the least is not written") {
  LogFile log_file;
  log_debug("whisper");
  log_info("said");
  CHECK(log_file.text().find("whisper") == std::string::npos);
  CHECK(log_file.text().find("said") != std::string::npos);
}

TEST_CASE("a full log moves aside, and one older is kept") {
  test::TemporaryFolder folder;
  fs::path path = folder / "client.log";
  start_logging(LogLevel::info, RotatingLog{path.string(), 1000});
  for (int i = 0; i < 100; ++i) log_info("event", {{"number", i}});
  start_logging(LogLevel::info);
  CHECK(fs::file_size(path) <= 1000);
  CHECK(fs::file_size(folder / "client.1.log") <= 1000);
  CHECK(read_text_file(path).find("number=99") != std::string::npos);
  auto files = fs::directory_iterator(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 2);
}

TEST_CASE("a log that cannot be opened is told as such") {
  CHECK_THROWS_WITH_AS(
      start_logging(LogLevel::info, RotatingLog{"/dev/null/client.log", 1000}),
      doctest::Contains("open the log /dev/null/client.log"), Error);
}

}  // namespace quorate
