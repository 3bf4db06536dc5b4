// Which devices this host has, and how to get one. The room kernels/devices is
// the only one that knows all backends: it includes every other room of
// kernels/ and owns nothing. Callers: the worker, which computes; tests;
// bench/. The agent asks a worker process instead (--list-devices), since a
// driver may crash.
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
// A GPU's name without a number is the first of its kind; a CPU's without an
// instruction set is the best one here.
std::unique_ptr<Backend> make_backend(std::string_view device,
                                      unsigned threads = 1,
                                      unsigned gpu_percent = 100);

// Whether a name is that of a GPU ("cuda", "opencl:1"), be it there or not.
// Looks at the text alone.
bool is_gpu(std::string_view device);

// The devices that work on this host, best first, under their full names: CPU,
// then GPUs, then "reference". "Work" is what the drivers say: nothing is
// started on them, and golden.h has the last word. An OpenCL GPU that CUDA has
// too is listed twice, with the same `model`.
std::vector<DeviceInfo> list_devices();

// Why GPUs that may be here are not in that list, in sentences for people. Asks
// the drivers again, which takes up to a second.
std::vector<std::string> list_refused_devices();

}  // namespace quorate
