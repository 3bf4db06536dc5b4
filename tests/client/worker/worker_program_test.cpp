// The program itself, driven as the agent and the server drive it.
#include <cstdio>

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "base/error.h"
#include "protocol/worker/reports.h"
#include "protocol/worker/worker_process.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/samples.h"
#include "tests/support/sanitized.h"

namespace quorate::worker {
namespace {

using namespace quorate::protocol;  // NOLINT: the messages are the subject

constexpr Seconds kPatience{120};

WorkerOptions options_with(std::uint32_t cpu_percent = 100,
                           std::string device = "cpu") {
  return {.program = QUORATE_WORKER,
          .device = std::move(device),
          .cpu_percent = cpu_percent};
}

// The next message that is not progress.
WorkerReply outcome(WorkerProcess& worker) {
  for (;;) {
    std::optional<WorkerReply> reply = worker.receive(kPatience);
    REQUIRE(reply);
    if (!std::holds_alternative<WorkerProgress>(*reply)) return *reply;
  }
}

// Returns once the present job is in the middle of its steps.
void await_progress(WorkerProcess& worker) {
  std::optional<WorkerReply> reply = worker.receive(kPatience);
  REQUIRE(reply);
  REQUIRE(std::holds_alternative<WorkerProgress>(*reply));
  CHECK(std::get<WorkerProgress>(*reply).steps > 0);
}

// Enough work for a second or so; much more at a few percent.
UnitSize long_unit() {
  return {.hidden = 1024, .samples = 4096, .steps = 4096, .batch = 1};
}

// Output and exit code of the program with these arguments.
struct Run {
  std::string output;
  int code = 0;
};
Run run(const std::string& arguments) {
  std::string command = std::string(QUORATE_WORKER) + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run result;
  char chunk[256];
  while (std::fgets(chunk, sizeof chunk, pipe) != nullptr) {
    result.output += chunk;
  }
  result.code = WEXITSTATUS(::pclose(pipe));
  return result;
}

}  // namespace

TEST_CASE("a unit that takes more memory than is allowed is given back" *
          doctest::skip(test::kIsSanitized)) {
  UnitFiles huge({.hidden = 1 << 19, .samples = 16, .steps = 1, .batch = 16});
  UnitFiles small;
  WorkerOptions options = options_with();
  options.memory_mb = 100;
  WorkerProcess worker(options);
  worker.send(huge.request(1, "huge"));
  auto failed = std::get<WorkerFailed>(outcome(worker));
  CAPTURE(failed.why);
  CHECK(failed.why.find("memory_mb") != std::string::npos);
  worker.send(small.request(2, "small"));
  CHECK(std::get<ComputeDone>(outcome(worker)).job == 2);
}

TEST_CASE("a unit computed twice, and on another device, has one claim") {
  UnitFiles files;
  WorkerProcess worker(options_with());
  CHECK(worker.ready().device.starts_with("cpu:"));
  CHECK(worker.ready().arithmetic == 1);
  worker.send(files.request(1, "one"));
  auto first = std::get<ComputeDone>(outcome(worker));
  worker.send(files.request(2, "two"));
  auto second = std::get<ComputeDone>(outcome(worker));
  WorkerProcess oracle(options_with(100, "reference"));
  oracle.send(files.request(3, "three"));
  auto third = std::get<ComputeDone>(outcome(oracle));

  CHECK(first.job == 1);
  CHECK(second.job == 2);
  CHECK(first.claim == second.claim);
  CHECK(first.claim == third.claim);
  CHECK(sha256(read_file(files.folder() / "two")) == first.claim.update);
}

// A sanitizer's own thread, at the end of the process, is no thread of ours.
TEST_CASE("a confined worker computes the same, in its folder only" *
          doctest::skip(test::kIsSanitized)) {
  UnitFiles files;
  test::TemporaryFolder elsewhere;
  WorkerProcess free(options_with());
  CHECK(free.ready().confinement.empty());
  free.send(files.request(1, "free"));
  const auto first = std::get<ComputeDone>(outcome(free));

  WorkerOptions options = options_with();
  options.folders = {files.folder()};
  options.threads = 2;
  WorkerProcess confined(options);
  if (confined.ready().confinement != kConfined) {
    MESSAGE("skipped: ", confined.ready().confinement);
    options.must_be_confined = true;
    CHECK_THROWS_WITH_AS(WorkerProcess{options},
                         doctest::Contains("require_sandbox"), Error);
    return;
  }
  confined.send(files.request(2, "confined"));
  CHECK(std::get<ComputeDone>(outcome(confined)).claim == first.claim);
  ComputeRequest outside = files.request(3, "outside");
  outside.update = (elsewhere.path() / "update").string();
  confined.send(outside);
  CHECK(std::get<WorkerFailed>(outcome(confined)).kind == "io");
  CHECK(fs::is_empty(elsewhere.path()));
  outside = files.request(4, "outside");
  fs::copy_file(outside.snapshot, elsewhere.path() / "snapshot");
  outside.snapshot = (elsewhere.path() / "snapshot").string();
  confined.send(outside);
  CHECK(std::get<WorkerFailed>(outcome(confined)).kind == "io");
  options.must_be_confined = true;
  CHECK(WorkerProcess(options).ready().confinement == kConfined);
}

TEST_CASE("stop, kill and resume lead to the claim of the straight run") {
  UnitFiles files(long_unit());
  WorkerProcess straight(options_with());
  straight.send(files.request(1, "straight"));
  Claim expected = std::get<ComputeDone>(outcome(straight)).claim;
  ComputeRequest request = files.request(2, "interrupted");
  {
    WorkerProcess slow(options_with(2));
    slow.send(request);
    await_progress(slow);
    slow.send(StopRequest{});
    CHECK(std::get<WorkerStopped>(outcome(slow)).job == 2);
    CHECK(fs::exists(request.checkpoint));
    slow.send(request);
    await_progress(slow);
    slow.kill();
  }
  CHECK(fs::exists(request.checkpoint));

  straight.send(request);
  auto done = std::get<ComputeDone>(outcome(straight));

  CHECK(done.claim == expected);
  CHECK(done.steps < files.task().range.steps);
  CHECK_FALSE(fs::exists(request.checkpoint));
}

TEST_CASE("failures end the job, not the worker") {
  UnitFiles files;
  WorkerProcess worker(options_with());
  ComputeRequest bad = files.request(1);
  bad.project_key = test::sample_key(9).public_key();
  worker.send(bad);
  auto failed = std::get<WorkerFailed>(outcome(worker));
  CHECK(failed.job == 1);
  CHECK(failed.kind == "corrupt");
  CHECK(failed.why.find("workunit") != std::string::npos);

  ComputeRequest missing = files.request(2);
  missing.snapshot = "/nonexistent/snapshot";
  worker.send(missing);
  CHECK(std::get<WorkerFailed>(outcome(worker)).kind == "io");

  worker.send(StopRequest{});  // nothing runs: no answer
  worker.send(files.evaluation(3));
  auto scored = std::get<EvaluateDone>(outcome(worker));
  CHECK(scored.job == 3);
  CHECK(scored.samples == 256);
}

TEST_CASE("a device that is not there is refused before any work") {
  try {
    WorkerProcess worker(options_with(100, "abacus"));
    FAIL("an abacus serves");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unsupported);
    CHECK(std::string(error.what()).find("abacus") != std::string::npos);
  }
}

TEST_CASE("every device that is listed passes its self-test") {
  Run listed = run("--list-devices");
  CHECK(listed.code == 0);
  CHECK(listed.output.find("reference") != std::string::npos);
  for (std::string device : {"cpu", "reference"}) {
    Run tested = run("--self-test --device " + device);
    CAPTURE(tested.output);
    CHECK(tested.code == 0);
    CHECK(tested.output.find("ok   training unit") != std::string::npos);
  }
}

TEST_CASE("lists are JSON when asked") {
  Run listed = run("--list-devices --json");
  CHECK(listed.code == 0);
  DeviceList list = parse_device_list(listed.output);
  REQUIRE_FALSE(list.devices.empty());
  CHECK(list.devices.back().name == "reference");
  CHECK_FALSE(list.program.empty());
  for (const DeviceReport& device : list.devices) {
    CAPTURE(device.name);
    CHECK_FALSE(device.description.empty());
    CHECK((!device.is_gpu || is_gpu_name(device.name)));
    CHECK((!device.is_gpu || !device.model.empty()));
    bool is_pocl = device.description.find("Portable Computing Language") !=
                   std::string::npos;
    CHECK_FALSE((is_pocl && device.is_gpu));
  }
}

TEST_CASE("a quick measurement is one product, or why there is none") {
  Run measured = run("--bench --quick --json --device cpu");
  CHECK(measured.code == 0);
  BenchReport report = parse_bench_report(measured.output);
  REQUIRE(report.cases.size() == 1);
  CHECK(report.cases[0].value > 0);
  CHECK(report.cases[0].unit == "Gflop/s");
  CHECK(report.failure.empty());

  Run failed = run("--bench --quick --json --device abacus");
  CHECK(failed.code == 1);
  report = parse_bench_report(failed.output);
  CHECK(report.cases.empty());
  CHECK(report.failure.find("abacus") != std::string::npos);
}

TEST_CASE("exit codes tell wrong usage from failure") {
  CHECK(run("--help").code == 0);
  CHECK(run("").code == 2);
  CHECK(run("--dance").code == 2);
  CHECK(run("--serve --self-test").code == 2);
  CHECK(run("--self-test --threads 0").code == 2);
  CHECK(run("--self-test --device abacus").code == 2);
}

}  // namespace quorate::worker
