// Which devices of this computer compute when nobody has named any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quorate::client {

struct FoundDevice {
  std::string name;     // what --device takes
  std::string model;    // of a GPU, the same through CUDA and OpenCL
  bool is_gpu = false;  // a real one; OpenCL on a CPU is none
  double gflops = 0;    // measured; 0: not, or it may not compute
};

// Whether two names may stand for one GPU, seen through CUDA and through
// OpenCL. Of two alike GPUs each is taken for either: whoever hides one of them
// from CUDA does not want it to come back through OpenCL.
bool is_same_gpu(const FoundDevice& a, const FoundDevice& b);

// The devices, best first, that get a worker each: every GPU that is faster
// than the CPU, under the first of its names in `found`; and the CPU, unless
// the GPUs leave it no core, for each needs one to be fed. Without such a GPU
// the CPU alone.
// found: the CPU's is called "cpu". cores: that may compute, at least 1.
std::vector<std::string> choose_devices(std::span<const FoundDevice> found,
                                        std::uint32_t cores);

}  // namespace quorate::client
