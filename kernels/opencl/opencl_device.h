// A GPU through OpenCL (kernels/gpu/gpu_device.h).
//
// Each has a command queue of its own and shares the compiled program. Buffers
// of one may not be used with another.
#pragma once

#include <memory>

#include "kernels/gpu/gpu_device.h"
#include "kernels/opencl/devices.h"
#include "kernels/opencl/program.h"

namespace quorate::opencl {

// Compiles the kernels or takes them from the cache. Throws unsupported if the
// device is unfit or does not compile them, naming it; io if it fails.
std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device);
// With a program of one's own, and no check of fitness: for tests.
std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device,
                                       std::shared_ptr<Program> program);

}  // namespace quorate::opencl
