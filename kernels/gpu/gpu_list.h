// What a look for GPUs found.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// Devices of one kind that may compute, and why others may not, or why there
// are none. Nothing was started on them.
struct GpuList {
  std::vector<DeviceInfo> devices;
  std::vector<std::string> refused;
};

}  // namespace quorate
