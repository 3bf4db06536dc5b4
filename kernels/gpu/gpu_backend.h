// Every operation of kernels/backend.h on a GPU, whatever its interface: the
// same kernels and the same launches, so that what is proved about the order of
// arithmetic on one holds for all.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/gpu/gpu_device.h"

namespace quorate {

// percent: share of the time in which the device works, 1 to 100.
std::unique_ptr<Backend> make_gpu_backend(std::unique_ptr<GpuDevice> device,
                                          std::uint32_t percent);

}  // namespace quorate
