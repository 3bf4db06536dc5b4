// Backends of NVIDIA's GPUs through CUDA, "cuda:0" and so on.
//
// The room kernels/cuda is found by CMake (nvcc), not demanded: without it,
// no_cuda.cpp gives an empty list and refuses. It owns the stream and memory of
// a device, and may include kernels/ and kernels/gpu. CUDA's headers stay in
// its sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/gpu/gpu_list.h"

namespace quorate {

// Never throws for a host without GPU or driver: that is a reason in `refused`.
GpuList list_cuda_devices();

// name: one of the list, or "cuda" for the first. percent: share of the time
// in which it works, 1 to 100. Throws unsupported, saying why, if there is no
// such device or it is too old; io if it fails.
// A GPU older than compute capability 7.5 may still do through OpenCL.
std::unique_ptr<Backend> make_cuda_backend(std::string_view name,
                                           std::uint32_t percent);

}  // namespace quorate
