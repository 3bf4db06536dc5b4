// Every operation of kernels/backend.h on a GPU, whatever its interface: the
// same kernels and the same launches, so that what is proved about the order of
// arithmetic on one holds for all.
//
// The room kernels/gpu turns operations into launches of kernels;
// kernels/gpu/device has the kernels' text. It owns the device's memory behind
// tensors and scratch, and may include kernels/ and gpu/device. It knows
// neither OpenCL nor CUDA: those rooms implement GpuDevice (gpu_device.h) and
// call make_gpu_backend.
//
// Rejected: an own set of kernels per interface, as other engines have. Twice
// the text means twice the proof that the order of arithmetic is right.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/gpu/gpu_device.h"

namespace quorate {

// Takes over the device. percent: share of the time in which the device works,
// 1 to 100. Operations return when they are launched; between slices the
// calling thread may wait and sleep, to keep to `percent`.
std::unique_ptr<Backend> make_gpu_backend(std::unique_ptr<GpuDevice> device,
                                          std::uint32_t percent);

}  // namespace quorate
