#include "client/machine/device_choice.h"

#include <doctest/doctest.h>

namespace quorate::client {
namespace {

using Names = std::vector<std::string>;

FoundDevice cpu(double gflops) {
  return {"cpu", "", false, gflops};
}
FoundDevice gpu(const char* name, double gflops, const char* model = "RTX") {
  return {name, model, true, gflops};
}

}  // namespace

TEST_CASE("which devices compute") {
  struct Case {
    const char* what;
    std::vector<FoundDevice> found;
    std::uint32_t cores;
    Names chosen;
  };
  const std::vector<Case> kCases{
      {"the CPU alone", {cpu(100)}, 8, {"cpu"}},
      {"nothing is known", {}, 8, {"cpu"}},
      {"the CPU, which could not be measured", {cpu(0)}, 8, {"cpu"}},
      {"a GPU, and the CPU beside it",
       {cpu(100), gpu("cuda:0", 900)},
       8,
       {"cuda:0", "cpu"}},
      {"several GPUs, the fastest first",
       {cpu(100), gpu("cuda:0", 900), gpu("cuda:1", 1900, "H100"),
        gpu("opencl:2", 500, "Arc")},
       8,
       {"cuda:1", "cuda:0", "opencl:2", "cpu"}},
      {"two alike",
       {cpu(100), gpu("cuda:0", 900), gpu("cuda:1", 900)},
       8,
       {"cuda:0", "cuda:1", "cpu"}},
      {"a GPU that is slower than the CPU",
       {cpu(100), gpu("opencl:0", 60)},
       8,
       {"cpu"}},
      {"a GPU that may not compute, or was not measured",
       {cpu(100), gpu("cuda:0", 0), gpu("opencl:3", 700, "Arc")},
       8,
       {"opencl:3", "cpu"}},
      {"OpenCL on the CPU, be it as fast as it wants",
       {cpu(100), {"opencl:0", "Xeon", false, 5000}},
       8,
       {"cpu"}},
      {"GPUs seen through CUDA and OpenCL",
       {cpu(100), gpu("cuda:0", 900), gpu("cuda:1", 800), gpu("opencl:0", 950),
        gpu("opencl:1", 950)},
       8,
       {"cuda:0", "cuda:1", "cpu"}},
      {"through OpenCL alone, where CUDA has failed",
       {cpu(100), gpu("cuda:0", 0), gpu("opencl:0", 800)},
       8,
       {"opencl:0", "cpu"}},
      {"GPUs without a model are not taken for one",
       {cpu(100), gpu("cuda:0", 900, ""), gpu("opencl:0", 800, "")},
       8,
       {"cuda:0", "opencl:0", "cpu"}},
      {"as many cores as GPUs: each is busy with feeding one",
       {cpu(100), gpu("cuda:0", 900), gpu("cuda:1", 900)},
       2,
       {"cuda:0", "cuda:1"}},
      {"a GPU where the CPU does not compute exactly",
       {cpu(0), gpu("cuda:0", 900)},
       8,
       {"cuda:0"}},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    CHECK(choose_devices(c.found, c.cores) == c.chosen);
  }
}

TEST_CASE("one GPU has one name in each interface") {
  CHECK(is_same_gpu(gpu("cuda:0", 1), gpu("opencl:3", 2)));
  CHECK_FALSE(is_same_gpu(gpu("cuda:0", 1), gpu("cuda:1", 1)));
  CHECK_FALSE(is_same_gpu(gpu("cuda:0", 1), gpu("opencl:3", 2, "Arc")));
  CHECK_FALSE(is_same_gpu(gpu("cuda:0", 1), cpu(1)));
}

}  // namespace quorate::client
