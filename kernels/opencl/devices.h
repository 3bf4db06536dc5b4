// The OpenCL devices of this host, and which of them qualify.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/opencl/library.h"

namespace quorate::opencl {

struct DeviceEntry {
  cl_device_id id = nullptr;
  std::string name;         // "opencl:0"
  std::string model;        // the maker's name for it
  std::string driver;       // its version
  std::string description;  // for people
  std::string build;        // whatever a compiled program depends on
  cl_device_fp_config floats = 0;
  bool is_gpu = false;
  bool is_cpu = false;
  bool is_usable = true;  // available, with a compiler
  std::uint64_t memory = 0;
  std::uint64_t largest_piece = 0;
  std::uint64_t local_memory = 0;
  std::uint64_t group_items = 0;
  std::uint32_t compute_units = 0;
};

// GPUs first. Empty if there are none; throws unsupported without OpenCL.
// Nothing is started on them.
std::vector<DeviceEntry> find_devices();

// Why a device cannot compute exactly, or run the kernels; empty if it may.
std::string unfitness(const DeviceEntry& device);

// Compiler options: no part of fast math; exact division where it is offered.
std::string build_options(const DeviceEntry& device);

}  // namespace quorate::opencl
