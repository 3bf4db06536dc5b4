// Which devices this host has, and how to get one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// The backend of a device: "cpu" (the best instruction set here),
// "cpu:avx512", "cpu:avx2", "reference" (plain loops, slow; the oracle), or a
// GPU as list_devices names it, "opencl:0"; "opencl" is the first of those.
// threads: how many of a CPU compute, at least 1. gpu_percent: share of the
// time in which a GPU works, 1 to 100. The results depend on neither.
// Throws usage for an unknown name, listing the known; unsupported if this
// host lacks what the device needs, saying what; io if the device fails.
std::unique_ptr<Backend> make_backend(std::string_view device,
                                      unsigned threads = 1,
                                      unsigned gpu_percent = 100);

// Whether a name is that of a GPU, be it there or not.
bool is_gpu(std::string_view device);

// The devices that work on this host, best first, under their full names.
// Nothing is started on them.
std::vector<DeviceInfo> list_devices();

// Why GPUs that may be here are not in that list, in sentences for people.
std::vector<std::string> list_refused_devices();

}  // namespace quorate
