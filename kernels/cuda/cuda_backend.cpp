#include "kernels/cuda/cuda_backend.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/gpu/gpu_backend.h"

namespace quorate {

GpuList list_cuda_devices() {
  GpuList list;
  try {
    for (const cuda::DeviceEntry& device : cuda::find_devices()) {
      std::string why = cuda::unfitness(device);
      if (why.empty()) {
        list.devices.push_back({device.name, device.description, true,
                                device.model, device.driver});
      } else {
        list.refused.push_back(fmt::format(
            "device \"{}\" ({}): {}", device.name, device.description, why));
      }
    }
  } catch (const Error& error) {
    list.refused.push_back(error.what());
  }
  return list;
}

std::unique_ptr<Backend> make_cuda_backend(std::string_view name,
                                           std::uint32_t percent) {
  std::vector<cuda::DeviceEntry> devices = cuda::find_devices();
  for (const cuda::DeviceEntry& device : devices) {
    if (name != device.name && name != "cuda") continue;
    return make_gpu_backend(cuda::make_device(device), percent);
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": CUDA has {} devices here, counted "
                          "from cuda:0; see quorate-worker --list-devices",
                          name, devices.size()));
}

}  // namespace quorate
