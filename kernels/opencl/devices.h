// The OpenCL devices of this host, and which of them qualify.
//
// Used by opencl_backend.cpp alone. Asking is cheap and starts nothing: no
// context, no compiler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/opencl/library.h"

namespace quorate::opencl {

// What its driver says of it. Sizes are in bytes; largest_piece is the most
// that one allocation may have.
struct DeviceEntry {
  cl_device_id id = nullptr;
  std::string name;  // "opencl:0"
  // model and driver are for people and for records of trust; a new driver
  // counts as a new device (server/hosts/trust_book).
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

// GPUs first, otherwise in the drivers' order; the place in this list is the
// number in the name, so it changes when a driver is added. Empty if there are
// none; throws unsupported without OpenCL. A platform that fails is left out.
std::vector<DeviceEntry> find_devices();

// Why a device cannot compute exactly, or run the kernels, and what to do;
// empty if it may. That is the driver's word; golden.h checks it.
std::string unfitness(const DeviceEntry& device);

// Compiler options: no part of fast math; exact division where it is offered,
// else division in integers (-DQ_INTEGER_DIVISION). Part of the cache's key.
std::string build_options(const DeviceEntry& device);

}  // namespace quorate::opencl
