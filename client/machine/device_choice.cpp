#include "client/machine/device_choice.h"

#include <algorithm>

namespace quorate::client {
namespace {

std::string_view interface_of(std::string_view name) {
  return name.substr(0, name.find(':'));
}

double speed_of_cpu(std::span<const FoundDevice> found) {
  for (const FoundDevice& device : found) {
    if (device.name == "cpu") return device.gflops;
  }
  return 0;
}

}  // namespace

bool is_same_gpu(const FoundDevice& a, const FoundDevice& b) {
  return a.is_gpu && b.is_gpu && !a.model.empty() && a.model == b.model &&
         interface_of(a.name) != interface_of(b.name);
}

std::vector<std::string> choose_devices(std::span<const FoundDevice> found,
                                        std::uint32_t cores) {
  double cpu_gflops = speed_of_cpu(found);
  std::vector<FoundDevice> gpus;
  for (const FoundDevice& device : found) {
    bool is_known = std::any_of(gpus.begin(), gpus.end(), [&](const auto& gpu) {
      return is_same_gpu(gpu, device);
    });
    if (device.is_gpu && device.gflops > cpu_gflops && !is_known) {
      gpus.push_back(device);
    }
  }
  std::stable_sort(gpus.begin(), gpus.end(), [](const auto& a, const auto& b) {
    return a.gflops > b.gflops;
  });
  std::vector<std::string> chosen;
  for (const FoundDevice& gpu : gpus) chosen.push_back(gpu.name);
  bool is_cpu_left = cpu_gflops > 0 && cores > gpus.size();
  if (gpus.empty() || is_cpu_left) chosen.emplace_back("cpu");
  return chosen;
}

}  // namespace quorate::client
