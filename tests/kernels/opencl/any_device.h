// The first OpenCL device of this host that qualifies.
#pragma once

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/opencl/devices.h"

namespace quorate::test {

// None, with a message, where there is none.
inline std::optional<opencl::DeviceEntry> any_opencl_device() {
  try {
    for (const opencl::DeviceEntry& device : opencl::find_devices()) {
      if (opencl::unfitness(device).empty()) return device;
    }
    MESSAGE("skipped: no OpenCL device that qualifies");
  } catch (const Error& error) {
    MESSAGE("skipped: " << std::string(error.what()));
  }
  return std::nullopt;
}

}  // namespace quorate::test
