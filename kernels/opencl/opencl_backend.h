// Backends of the OpenCL devices of this host, "opencl:0" and so on.
//
// The room kernels/opencl loads the driver's library at run time (library.h),
// owns contexts, programs and queues, and may include kernels/ and kernels/gpu.
// Built without OpenCL's headers, no_opencl.cpp takes its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/gpu/gpu_list.h"

namespace quorate {

// Never throws for a host without OpenCL: that is a reason in `refused`.
GpuList list_opencl_devices();

// name: one of the list, or "opencl" for the first. percent: share of the time
// in which it works, 1 to 100. Throws unsupported, saying why, if there is no
// such device or it does not qualify; io if it fails.
// The first use of a device compiles the kernels, which takes seconds to a
// minute; later ones find them in the cache (program.h).
std::unique_ptr<Backend> make_opencl_backend(std::string_view name,
                                             std::uint32_t percent);

}  // namespace quorate
