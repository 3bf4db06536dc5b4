// How a worker that does not answer as it should is reported; the programs here
// are shell scripts. The real worker: tests/client/worker.
#include "protocol/worker/worker_process.h"

#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::protocol {
namespace {

// An executable script in a folder of its own.
class Script {
 public:
  explicit Script(const std::string& body) {
    std::ofstream(path()) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path().c_str(), 0700);
  }
  std::string path() const { return (folder_ / "worker").string(); }

 private:
  test::TemporaryFolder folder_;
};

constexpr const char* kReady =
    R"(echo '{"type":"ready","device":"toy","arithmetic":1}')";

Error failure_of(const std::string& body) {
  Script script(body);
  try {
    WorkerProcess process(WorkerOptions{.program = script.path()});
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::usage, "no error");
}

}  // namespace

TEST_CASE("a worker gets its options and is ready after its first line") {
  Script script(std::string(kReady) + R"(
read line
echo "{\"type\":\"failed\",\"job\":1,\"kind\":\"io\",\"why\":\"$*\"}")");
  WorkerProcess process(
      WorkerOptions{script.path(), "cpu:avx2", 3, 50, 700, 40});
  CHECK(process.ready().device == "toy");
  CHECK(process.ready().arithmetic == 1);

  process.send(StopRequest{});
  auto reply = process.receive(Seconds(20));

  REQUIRE(reply);
  CHECK(std::get<WorkerFailed>(*reply).why ==
        "--serve --device cpu:avx2 --threads 3 --cpu-percent 50 "
        "--memory-mb 700 --gpu-percent 40");
}

TEST_CASE("which names are those of GPUs") {
  for (const char* name : {"cuda", "cuda:0", "opencl:12", "opencl"}) {
    CHECK(is_gpu_name(name));
  }
  for (const char* name : {"cpu", "cpu:avx2", "reference", "", "cudax:0"}) {
    CHECK_FALSE(is_gpu_name(name));
  }
}

TEST_CASE("no message within the time is no message") {
  Script script(std::string(kReady) + "\nexec sleep 60");
  WorkerProcess process(WorkerOptions{.program = script.path()});
  CHECK_FALSE(process.receive(Seconds(0)));
}

TEST_CASE("a device that cannot serve is unsupported, in the worker's words") {
  Error error = failure_of(
      R"(echo '{"type":"failed","job":0,"kind":"unsupported","why":"no fma"}')");
  CHECK(error.kind() == ErrorKind::unsupported);
  CHECK(std::string(error.what()).ends_with("--device cpu: no fma"));
}

TEST_CASE("a worker that ends at once is unavailable") {
  CHECK(failure_of("exit 3").kind() == ErrorKind::unavailable);
}

TEST_CASE("nobody who leaves waits for a worker to start") {
  Script script("exec sleep 60");
  std::stop_source stop;
  stop.request_stop();
  WorkerOptions options{.program = script.path(), .device = "opencl:0"};
  CHECK_THROWS_WITH_AS(WorkerProcess(options, stop.get_token()),
                       doctest::Contains("no longer wanted"), Error);
}

TEST_CASE("a worker that says something else is corrupt") {
  CHECK(failure_of("echo hello").kind() == ErrorKind::corrupt);
  CHECK(failure_of(R"(echo '{"type":"stopped","job":1}')").kind() ==
        ErrorKind::corrupt);
}

TEST_CASE("a worker that died is reported when it is listened to") {
  Script script(std::string(kReady) + "\nexec sleep 60");
  WorkerProcess process(WorkerOptions{.program = script.path()});
  process.kill();
  try {
    process.receive(Seconds(20));
    FAIL("a dead worker answered");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
  }
}

TEST_CASE("a worker that aborts is told from one that was ended") {
  const auto told = [](const std::string& end, bool& has_aborted) {
    Script script(std::string(kReady) + "\n" + end);
    WorkerProcess process(WorkerOptions{.program = script.path()});
    try {
      process.receive(Seconds(20));
    } catch (const Error& error) {
      has_aborted = process.has_aborted();
      return std::string(error.what());
    }
    return std::string("it answered");
  };
  bool has_aborted = false;
  CHECK(told("printf 'one\\ntwo\\033[1m\\n' >&2; kill -SEGV $$", has_aborted)
            .ends_with("has ended: killed by signal 11 (Segmentation fault): "
                       "one two?[1m"));
  CHECK(has_aborted);
  CHECK(told("exit 1", has_aborted).ends_with("has ended: exit status 1"));
  CHECK(has_aborted);
  told("kill -KILL $$", has_aborted);
  CHECK_FALSE(has_aborted);
}

TEST_CASE("a program that is not there is io") {
  try {
    WorkerProcess process(WorkerOptions{.program = "/nonexistent/worker"});
    FAIL("started");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
  }
}

}  // namespace quorate::protocol
