#include "kernels/devices/backends.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/opencl/opencl_backend.h"
#include "kernels/reference/reference_backend.h"

namespace quorate {
namespace {

// One kind of device. missing: empty if the host has it, else why not.
struct BackendEntry {
  std::string_view name;
  std::string (*missing)();
  std::unique_ptr<Backend> (*make)(unsigned threads);
};

template <InstructionSet kSet>
constexpr BackendEntry cpu_entry(std::string_view name) {
  return {name, [] { return missing_for(kSet); },
          [](unsigned threads) { return make_cpu_backend(kSet, threads); }};
}

// Best first: a name that is the part of another before a colon stands for the
// first of those that this host has.
constexpr BackendEntry kBackends[] = {
    cpu_entry<InstructionSet::avx512>("cpu:avx512"),
    cpu_entry<InstructionSet::avx2>("cpu:avx2"),
    {"reference", [] { return std::string(); },
     [](unsigned) { return make_reference_backend(); }},
};

// GPUs of one interface, "NAME:0", "NAME:1" and so on.
struct GpuFamily {
  std::string_view name;
  GpuList (*list)();
  std::unique_ptr<Backend> (*make)(std::string_view device,
                                   std::uint32_t percent);
};
constexpr GpuFamily kGpuFamilies[] = {
    {"cuda", list_cuda_devices, make_cuda_backend},
    {"opencl", list_opencl_devices, make_opencl_backend},
};

bool is_meant(std::string_view entry, std::string_view device) {
  return entry == device || entry.substr(0, entry.find(':')) == device;
}

// "NAME" or "NAME:" and a number.
bool is_of_family(std::string_view device, std::string_view name) {
  if (!device.starts_with(name)) return false;
  device.remove_prefix(name.size());
  if (device.empty()) return true;
  return device.size() > 1 && device.front() == ':' &&
         std::all_of(device.begin() + 1, device.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string known_devices() {
  std::string known = "cpu";
  for (const BackendEntry& entry : kBackends) {
    known += fmt::format(", {}", entry.name);
  }
  for (const GpuFamily& family : kGpuFamilies) {
    known += fmt::format(", {0}, {0}:0 ...", family.name);
  }
  return known;
}

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view device, unsigned threads,
                                      unsigned gpu_percent) {
  check(threads >= 1, "a backend needs at least one thread");
  for (const GpuFamily& family : kGpuFamilies) {
    if (is_of_family(device, family.name)) {
      return family.make(device, gpu_percent);
    }
  }
  std::string missing;
  for (const BackendEntry& entry : kBackends) {
    if (!is_meant(entry.name, device)) continue;
    missing = entry.missing();
    if (missing.empty()) return entry.make(threads);
  }
  if (missing.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("device \"{}\": unknown; known: {}", device,
                            known_devices()));
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": {}", device, missing));
}

bool is_gpu(std::string_view device) {
  return std::any_of(std::begin(kGpuFamilies), std::end(kGpuFamilies),
                     [device](const GpuFamily& family) {
                       return is_of_family(device, family.name);
                     });
}

// The oracle comes last.
std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  for (const BackendEntry& entry : kBackends) {
    if (entry.missing().empty()) devices.push_back(entry.make(1)->device());
  }
  for (const GpuFamily& family : kGpuFamilies) {
    GpuList found = family.list();
    devices.insert(devices.end() - 1, found.devices.begin(),
                   found.devices.end());
  }
  return devices;
}

std::vector<std::string> list_refused_devices() {
  std::vector<std::string> refused;
  for (const GpuFamily& family : kGpuFamilies) {
    GpuList found = family.list();
    refused.insert(refused.end(), found.refused.begin(), found.refused.end());
  }
  return refused;
}

}  // namespace quorate
