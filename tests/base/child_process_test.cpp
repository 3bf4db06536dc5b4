#include "base/child_process.h"

#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

#include <stdlib.h>

namespace quorate {
namespace {

// Long enough for any machine; no test waits that long when all is well.
constexpr Seconds kPatience{60};
using Read = ChildProcess::Read;

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

}  // namespace

TEST_CASE("lines go to the child and come back") {
  ChildProcess cat({"/bin/cat"});
  cat.send_line("one");
  cat.send_line("two");
  std::string line;
  REQUIRE(cat.read_line(line, kPatience) == Read::line);
  CHECK(line == "one");
  REQUIRE(cat.read_line(line, kPatience) == Read::line);
  CHECK(line == "two");
  CHECK(cat.is_running());
}

TEST_CASE("a child gets no secret of the environment, and what devices need") {
  ::setenv("QUORATE_TEST_TOKEN", "secret", 1);
  ::setenv("NVIDIA_API_KEY", "secret", 1);
  ::setenv("POCL_TEST_SETTING", "4", 1);
  ChildProcess env(
      shell("echo "
            "\"$QUORATE_TEST_TOKEN$NVIDIA_API_KEY:$POCL_TEST_SETTING:${PATH:+"
            "has a path}\""));
  ::unsetenv("QUORATE_TEST_TOKEN");
  ::unsetenv("NVIDIA_API_KEY");
  ::unsetenv("POCL_TEST_SETTING");
  std::string line;
  REQUIRE(env.read_line(line, kPatience) == Read::line);
  CHECK(line == ":4:has a path");
}

TEST_CASE("a child gets no file that is open") {
  const int open = ::open("/dev/null", O_RDONLY);
  const int high = ::fcntl(open, F_DUPFD, 300);  // not closed by an exec
  REQUIRE(high >= 300);
  ChildProcess child(shell("ls /proc/self/fd | tr '\\n' ' '; echo"));
  ::close(open);
  ::close(high);
  std::string line;
  REQUIRE(child.read_line(line, kPatience) == Read::line);
  CHECK(line.starts_with("0 1 2 "));
  CHECK(line.find(std::to_string(high)) == std::string::npos);
}

TEST_CASE("a child that says nothing is a timeout, not an end") {
  ChildProcess cat({"/bin/cat"});
  std::string line;
  CHECK(cat.read_line(line, Seconds(0)) == Read::timeout);
  CHECK(cat.is_running());
}

TEST_CASE("a killed child is gone and its pipe closed") {
  ChildProcess cat({"/bin/cat"});
  cat.kill();
  std::string line;
  CHECK(cat.read_line(line, kPatience) == Read::closed);
  CHECK_FALSE(cat.is_running());
}

TEST_CASE("the end of the object is the end of the child") {
  int pid = 0;
  {
    ChildProcess cat({"/bin/cat"});
    pid = cat.pid();
    REQUIRE(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) == -1);
}

TEST_CASE("a child that ends by itself closes after its last line") {
  ChildProcess child(shell("echo last"));
  std::string line;
  REQUIRE(child.read_line(line, kPatience) == Read::line);
  CHECK(line == "last");
  CHECK(child.read_line(line, kPatience) == Read::closed);
}

TEST_CASE("a long line arrives whole; an endless one is refused") {
  ChildProcess child(
      shell("head -c 1000000 /dev/zero | tr '\\0' a; echo; "
            "head -c 2000000 /dev/zero | tr '\\0' b"));
  std::string line;
  REQUIRE(child.read_line(line, kPatience) == Read::line);
  CHECK(line == std::string(1000000, 'a'));
  CHECK_THROWS_AS(child.read_line(line, kPatience), Error);
}

TEST_CASE("how a child ended, and what it said last") {
  const auto end_of = [](const std::string& script, std::string& words) {
    ChildProcess child(shell(script));
    std::string line;
    REQUIRE(child.read_line(line, kPatience) == Read::closed);
    const ChildProcess::End end = child.end();
    words = child.last_words();
    return end;
  };
  std::string words;
  ChildProcess::End end = end_of("echo lost >&2; kill -ABRT $$", words);
  CHECK(end.how == "killed by signal 6 (Aborted)");
  CHECK(end.is_own_doing);
  CHECK(words == "lost\n");
  end = end_of("exit 3", words);
  CHECK(end.how == "exit status 3");
  CHECK(end.is_own_doing);
  CHECK(words.empty());
  CHECK_FALSE(end_of("exit 0", words).is_own_doing);
  CHECK_FALSE(end_of("kill -KILL $$", words).is_own_doing);
  CHECK_FALSE(end_of("kill -TERM $$", words).is_own_doing);
  // It closed its output and went on.
  CHECK_FALSE(end_of("exec >&-; exec sleep 60", words).is_own_doing);
}

TEST_CASE("a child that says very much is not held up, and ends as it does") {
  ChildProcess child(
      shell("head -c 80000 /dev/zero | tr '\\0' x >&2; echo end >&2; "
            "echo done"));
  std::string line;
  REQUIRE(child.read_line(line, kPatience) == Read::line);
  CHECK(line == "done");
  CHECK(child.read_line(line, kPatience) == Read::closed);
  child.end();
  CHECK(child.last_words().size() == 1024);
  CHECK(child.last_words().ends_with("xend\n"));
}

TEST_CASE("writing to a child that is gone is unavailable") {
  ::signal(SIGPIPE, SIG_IGN);  // as every main does
  ChildProcess child(shell("exec true"));
  while (child.is_running()) std::this_thread::yield();
  try {
    child.send_line("hello");
    FAIL("wrote to nobody");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
  }
}

TEST_CASE("a child runs at the asked niceness") {
  int own = ::getpriority(PRIO_PROCESS, 0);
  if (own > 9) return;
  ChildProcess child({"/bin/cat"}, 10);
  child.send_line("ready");
  std::string line;
  REQUIRE(child.read_line(line, kPatience) == Read::line);
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(child.pid())) == 10);
}

TEST_CASE("what cannot be started is an error") {
  CHECK_THROWS_AS(ChildProcess({"/nonexistent/program"}), Error);
}

}  // namespace quorate
