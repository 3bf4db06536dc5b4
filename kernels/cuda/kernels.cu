// The kernels (kernels/gpu/device), compiled by nvcc for many GPUs, and where
// each begins, for the host's part, which another compiler makes.
#include "kernels/gpu/device/all.h"
#include "kernels/gpu/gpu_kernels.h"

extern "C" const void* const quorate_cuda_kernels[] = {
#define QUORATE_KERNEL(name) reinterpret_cast<const void*>(quorate_##name),
    QUORATE_GPU_KERNELS(QUORATE_KERNEL)
#undef QUORATE_KERNEL
};
