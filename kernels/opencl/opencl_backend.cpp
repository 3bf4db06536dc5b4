#include "kernels/opencl/opencl_backend.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/gpu/gpu_backend.h"
#include "kernels/opencl/opencl_device.h"

namespace quorate {
namespace {

std::string refusal(const opencl::DeviceEntry& device, const std::string& why) {
  return fmt::format("device \"{}\" ({}): {}", device.name, device.description,
                     why);
}

}  // namespace

GpuList list_opencl_devices() {
  GpuList list;
  try {
    for (const opencl::DeviceEntry& device : opencl::find_devices()) {
      std::string why = opencl::unfitness(device);
      if (why.empty()) {
        list.devices.push_back({device.name, device.description, device.is_gpu,
                                device.model, device.driver});
      } else {
        list.refused.push_back(refusal(device, why));
      }
    }
    if (list.devices.empty() && list.refused.empty()) {
      list.refused.push_back("OpenCL knows no device: install a GPU's driver");
    }
  } catch (const Error& error) {
    list.refused.push_back(error.what());
  }
  return list;
}

std::unique_ptr<Backend> make_opencl_backend(std::string_view name,
                                             std::uint32_t percent) {
  std::vector<opencl::DeviceEntry> devices = opencl::find_devices();
  for (const opencl::DeviceEntry& device : devices) {
    if (name != device.name && name != "opencl") continue;
    return make_gpu_backend(opencl::make_device(device), percent);
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": OpenCL has {} devices here, counted "
                          "from opencl:0; see quorate-worker --list-devices",
                          name, devices.size()));
}

}  // namespace quorate
