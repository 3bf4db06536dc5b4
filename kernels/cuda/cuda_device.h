// A GPU through CUDA (kernels/gpu/gpu_device.h).
//
// The driver's context is the process's: several backends on one GPU share it.
// A thread that waits for the device sleeps instead of spinning.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/gpu_device.h"

namespace quorate::cuda {

// index counts as CUDA does, so CUDA_VISIBLE_DEVICES changes it.
struct DeviceEntry {
  int index = 0;
  std::string name;         // "cuda:0"
  std::string model;        // the maker's name for it
  std::string driver;       // the CUDA version that it offers
  std::string description;  // for people
  std::uint32_t compute_units = 0;
  int capability = 0;  // 75 for 7.5
};

// Throws unsupported, saying why, if there is no driver or no GPU. Nothing is
// started on them.
std::vector<DeviceEntry> find_devices();

// Why a device cannot run the kernels; empty if it can.
// The least compute capability is 7.5 (Turing, 2018).
std::string unfitness(const DeviceEntry& device);

// Throws unsupported if it is unfit.
// Throws io if the device cannot be opened.
std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device);

}  // namespace quorate::cuda
