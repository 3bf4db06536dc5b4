#include "kernels/opencl/devices.h"

#include <algorithm>

#include <fmt/format.h>

namespace quorate::opencl {
namespace {

// Above this, a list is not believed.
constexpr cl_uint kMostDevices = 256;
// What the tiles of a product take, and the items of a group.
constexpr std::uint64_t kLocalMemory = 24 << 10;
constexpr std::uint64_t kGroupItems = 256;

template <class Value>
Value info(const Library& cl, cl_device_id id, cl_device_info what) {
  Value value{};
  cl.clGetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

template <class Function, class Id>
std::string text(Function get, Id id, cl_uint what) {
  std::size_t size = 0;
  if (get(id, what, 0, nullptr, &size) != CL_SUCCESS || size > 65536) return {};
  std::string value(size, '\0');
  if (get(id, what, size, value.data(), nullptr) != CL_SUCCESS) return {};
  value.resize(std::min(value.find('\0'), value.size()));
  std::size_t begin = value.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return value.substr(begin, value.find_last_not_of(' ') - begin + 1);
}

DeviceEntry describe(const Library& cl, cl_platform_id platform,
                     cl_device_id id) {
  DeviceEntry device;
  device.id = id;
  device.model = text(cl.clGetDeviceInfo, id, CL_DEVICE_NAME);
  device.driver = text(cl.clGetDeviceInfo, id, CL_DRIVER_VERSION);
  device.build = fmt::format(
      "{}\n{}\n{}\n{}",
      text(cl.clGetPlatformInfo, platform, CL_PLATFORM_VERSION), device.model,
      text(cl.clGetDeviceInfo, id, CL_DEVICE_VERSION), device.driver);
  device.floats = info<cl_device_fp_config>(cl, id, CL_DEVICE_SINGLE_FP_CONFIG);
  auto type = info<cl_device_type>(cl, id, CL_DEVICE_TYPE);
  device.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  device.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  device.is_usable =
      info<cl_bool>(cl, id, CL_DEVICE_AVAILABLE) == CL_TRUE &&
      info<cl_bool>(cl, id, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  device.memory = info<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  device.largest_piece = info<cl_ulong>(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device.local_memory = info<cl_ulong>(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
  device.group_items = info<std::size_t>(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device.compute_units = info<cl_uint>(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
  device.description = fmt::format(
      "{}, {} units, {:.1f} GiB, {} {}", device.model, device.compute_units,
      static_cast<double>(device.memory) / (1 << 30),
      text(cl.clGetPlatformInfo, platform, CL_PLATFORM_NAME), device.driver);
  return device;
}

}  // namespace

std::vector<DeviceEntry> find_devices() {
  const Library& cl = library();
  std::vector<DeviceEntry> devices;
  cl_uint count = 0;
  // An error here means that there are none.
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return devices;
  std::vector<cl_platform_id> platforms(std::min(count, kMostDevices));
  if (cl.clGetPlatformIDs(static_cast<cl_uint>(platforms.size()),
                          platforms.data(), nullptr) != CL_SUCCESS) {
    return devices;
  }
  for (cl_platform_id platform : platforms) {
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) !=
        CL_SUCCESS) {
      continue;
    }
    std::vector<cl_device_id> ids(std::min(count, kMostDevices));
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL,
                          static_cast<cl_uint>(ids.size()), ids.data(),
                          nullptr) != CL_SUCCESS) {
      continue;
    }
    for (cl_device_id id : ids) devices.push_back(describe(cl, platform, id));
  }
  std::stable_partition(devices.begin(), devices.end(),
                        [](const DeviceEntry& d) { return d.is_gpu; });
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].name = fmt::format("opencl:{}", i);
  }
  return devices;
}

std::string unfitness(const DeviceEntry& device) {
  struct Need {
    cl_device_fp_config bit;
    const char* what;
  };
  constexpr Need kNeeds[] = {
      {CL_FP_DENORM, "keep subnormal numbers"},
      {CL_FP_INF_NAN, "know infinity and NaN"},
      {CL_FP_ROUND_TO_NEAREST, "round to nearest"},
      {CL_FP_FMA, "multiply and add with one rounding"},
  };
  if (!device.is_usable) {
    return "its driver says that it is not available, or has no compiler";
  }
  for (const Need& need : kNeeds) {
    if ((device.floats & need.bit) != 0) continue;
    return fmt::format(
        "it does not {}, so its results would differ from "
        "everybody else's; use the device \"cpu\"",
        need.what);
  }
  if (device.local_memory < kLocalMemory || device.group_items < kGroupItems) {
    return fmt::format(
        "it has {} bytes of local memory and groups of {} items; {} and {} are "
        "needed; use the device \"cpu\"",
        device.local_memory, device.group_items, kLocalMemory, kGroupItems);
  }
  return {};
}

std::string build_options(const DeviceEntry& device) {
  constexpr cl_device_fp_config kExact = CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  bool is_exact = (device.floats & kExact) != 0;
  return fmt::format("-cl-std=CL1.2 {}{}",
                     is_exact ? "-cl-fp32-correctly-rounded-divide-sqrt"
                              : "-DQ_INTEGER_DIVISION",
                     device.is_cpu ? " -DQ_CPU" : "");
}

}  // namespace quorate::opencl
