// What a look for GPUs found.
//
// Filled by opencl/ and cuda/, joined in devices/backends.cpp for
// `quorate-worker --list-devices` and the client's choice of devices.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// Devices of one kind that may compute, and why others may not, or why there
// are none: sentences for people, each naming its device and what to do.
// Nothing was started on them.
struct GpuList {
  std::vector<DeviceInfo> devices;
  std::vector<std::string> refused;
};

}  // namespace quorate
