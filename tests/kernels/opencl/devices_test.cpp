#include "kernels/opencl/devices.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/opencl/opencl_device.h"

namespace quorate::opencl {
namespace {

DeviceEntry fit_device() {
  DeviceEntry device;
  device.name = "opencl:7";
  device.description = "a GPU";
  device.floats =
      CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA;
  device.local_memory = 32 << 10;
  device.group_items = 256;
  return device;
}

}  // namespace

TEST_CASE("a device that would give other bits is refused in plain words") {
  struct Case {
    std::function<void(DeviceEntry&)> spoil;
    const char* says;
  };
  const Case kCases[] = {
      {[](DeviceEntry& d) { d.floats &= ~cl_device_fp_config{CL_FP_DENORM}; },
       "does not keep subnormal numbers"},
      {[](DeviceEntry& d) { d.floats &= ~cl_device_fp_config{CL_FP_INF_NAN}; },
       "does not know infinity"},
      {[](DeviceEntry& d) {
         d.floats &= ~cl_device_fp_config{CL_FP_ROUND_TO_NEAREST};
       },
       "does not round to nearest"},
      {[](DeviceEntry& d) { d.floats &= ~cl_device_fp_config{CL_FP_FMA}; },
       "does not multiply and add with one rounding"},
      {[](DeviceEntry& d) { d.local_memory = 16 << 10; },
       "16384 bytes of local memory"},
      {[](DeviceEntry& d) { d.group_items = 128; }, "groups of 128 items"},
      {[](DeviceEntry& d) { d.is_usable = false; }, "not available"},
  };
  CHECK(unfitness(fit_device()) == "");
  for (const Case& c : kCases) {
    CAPTURE(c.says);
    DeviceEntry device = fit_device();
    c.spoil(device);
    CHECK_THROWS_WITH_AS(make_device(device), doctest::Contains(c.says), Error);
    CHECK_THROWS_WITH_AS(make_device(device),
                         doctest::Contains("device \"opencl:7\" (a GPU): it"),
                         Error);
  }
}

TEST_CASE("division is the device's own only where it is exact") {
  DeviceEntry device = fit_device();
  CHECK(build_options(device) == "-cl-std=CL1.2 -DQ_INTEGER_DIVISION");
  device.floats |= CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  CHECK(build_options(device) ==
        "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt");
}

}  // namespace quorate::opencl
