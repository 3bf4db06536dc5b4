// Backends of the OpenCL devices of this host, "opencl:0" and so on.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/gpu/gpu_list.h"

namespace quorate {

GpuList list_opencl_devices();

// name: one of the list, or "opencl" for the first. percent: share of the time
// in which it works, 1 to 100. Throws unsupported, saying why, if there is no
// such device or it does not qualify; io if it fails.
std::unique_ptr<Backend> make_opencl_backend(std::string_view name,
                                             std::uint32_t percent);

}  // namespace quorate
