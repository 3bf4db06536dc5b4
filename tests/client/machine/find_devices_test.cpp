// What the agent makes of a worker program's answers; the programs here are
// shell scripts. The real worker: tests/client/worker.
#include "client/machine/find_devices.h"

#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "client/machine/device_speeds.h"
#include "protocol/worker/reports.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kSpeed =
    R"(echo '{"cases":[{"case":"matmul","value":%,"unit":"Gflop/s"}],)"
    R"("failure":""}')";

std::string says(const char* gflops) {
  std::string text = kSpeed;
  return text.replace(text.find('%'), 1, gflops);
}

// A worker program with two GPUs, one of them under two names, and OpenCL on
// the CPU; each case is what it does when that device is measured.
class FakeProgram {
 public:
  std::string list = protocol::write(
      protocol::DeviceList{"0.1.0",
                           {{"cpu:avx2", "AVX2 instructions"},
                            {"cuda:0", "RTX, CUDA 13", "RTX", true},
                            {"opencl:0", "RTX, OpenCL", "RTX", true},
                            {"opencl:1", "Arc, OpenCL", "Arc", true},
                            {"opencl:2", "Xeon, PoCL", "Xeon", false}},
                           {"device \"opencl:3\": it is not available"}});
  std::string on_list = "echo 'a driver says hello'; echo '" + list + "'";
  std::string on_cpu = says("100");
  std::string on_cuda = says("900");
  std::string on_opencl0 = says("800");
  std::string on_opencl1 = says("500");
  std::atomic<bool> should_leave{false};
  Seconds patience{20};

  Names find() {
    std::ofstream(program())
        << "#!/bin/sh\necho \"$*\" >> " << calls_file()
        << "\ncase \"$*\" in\n*--list-devices*) " << on_list
        << ";;\n*'--device cpu '*) " << on_cpu << ";;\n*cuda:0*) " << on_cuda
        << ";;\n*opencl:0*) " << on_opencl0 << ";;\n*opencl:1*) " << on_opencl1
        << ";;\nesac\n";
    ::chmod(program().c_str(), 0700);
    fs::remove(calls_file());
    return find_devices({program(), kept(), 8, patience, clock_, should_leave});
  }
  fs::path kept() const { return folder_ / "devices.json"; }
  // Of the program, in the last find().
  int calls() const {
    std::ifstream file(calls_file());
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }

 private:
  std::string program() const { return (folder_ / "worker").string(); }
  std::string calls_file() const { return (folder_ / "calls").string(); }

  test::TemporaryFolder folder_;
  SystemClock clock_;
};

}  // namespace

TEST_CASE_FIXTURE(FakeProgram, "devices are measured once, in one order") {
  CHECK(find() == Names{"cuda:0", "opencl:1", "cpu"});
  CHECK(calls() == 4);  // not for a second name of a GPU, nor for PoCL
  on_cuda = on_opencl0 = on_opencl1 = on_cpu = "exit 1";
  CHECK(find() == Names{"cuda:0", "opencl:1", "cpu"});
  CHECK(calls() == 1);
  // A file that makes no sense is no more than none.
  write_file_durably(kept(), as_bytes("{\"version\":"));
  CHECK(find() == Names{"cpu"});
}

TEST_CASE_FIXTURE(FakeProgram, "without a GPU nothing is measured") {
  on_list = R"(echo '{"program":"1","devices":[],"refused":[]}')";
  CHECK(find() == Names{"cpu"});
  CHECK(calls() == 1);
  CHECK_FALSE(fs::exists(kept()));
}

TEST_CASE_FIXTURE(FakeProgram,
                  "a device that fails is left out, and why kept") {
  const char* why = "ended without an answer";
  SUBCASE("it crashes") {
    on_cuda = "kill -SEGV $$";
  }
  SUBCASE("it does not compute exactly") {
    on_cuda = R"(echo '{"cases":[],"failure":"exp is wrong"}'; exit 1)";
    why = "exp is wrong";
  }
  SUBCASE("it says something else") {
    on_cuda = "echo '{\"cases\":3}'";
    why = "\"cases\"";
  }
  SUBCASE("it has no speed") {
    on_cuda = says("0");
    why = "no speed";
  }
  SUBCASE("it hangs") {
    on_cuda = "exec sleep 60";
    patience = Seconds(2);
    why = "no answer within 2 s";
  }
  // Through OpenCL it may do better.
  CHECK(find() == Names{"opencl:0", "opencl:1", "cpu"});
  DeviceSpeeds speeds = load_speeds(kept(), "0.1.0");
  REQUIRE(speeds.all().size() == 4);
  CAPTURE(speeds.all()[1].failure);
  CHECK(speeds.all()[1].with.device == "cuda:0");
  CHECK(speeds.all()[1].failure.find(why) != std::string::npos);
}

TEST_CASE_FIXTURE(FakeProgram, "a program that cannot list leaves the CPU") {
  SUBCASE("it crashes") {
    on_list = "kill -SEGV $$";
  }
  SUBCASE("it says something else") {
    on_list = "echo '{\"devices\":7}'";
  }
  SUBCASE("it hangs") {
    on_list = "exec sleep 60";
    patience = Seconds(1);
  }
  CHECK(find() == Names{"cpu"});
  CHECK_FALSE(fs::exists(kept()));
}

TEST_CASE_FIXTURE(FakeProgram, "who is told to leave does not wait or keep") {
  on_cpu = "exec sleep 60";
  should_leave = true;
  CHECK(find() == Names{"cpu"});
  CHECK_FALSE(fs::exists(kept()));
}

TEST_CASE("a program that is not there leaves the CPU to say so") {
  test::TemporaryFolder folder;
  SystemClock clock;
  std::atomic<bool> leave{false};
  CHECK(find_devices({"/nonexistent/worker", folder / "devices.json", 8,
                      Seconds(5), clock, leave}) == Names{"cpu"});
}

}  // namespace quorate::client
