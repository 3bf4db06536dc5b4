// A GPU through OpenCL (kernels/gpu/gpu_device.h).
#pragma once

#include <memory>

#include "kernels/gpu/gpu_device.h"
#include "kernels/opencl/devices.h"
#include "kernels/opencl/program.h"

namespace quorate::opencl {

// Throws unsupported if the device is unfit, naming it.
std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device);
// With a program of one's own.
std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device,
                                       std::shared_ptr<Program> program);

}  // namespace quorate::opencl
