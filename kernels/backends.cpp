#include "kernels/backends.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/cpu_backend.h"
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

bool is_meant(std::string_view entry, std::string_view device) {
  return entry == device || entry.substr(0, entry.find(':')) == device;
}

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view device,
                                      unsigned threads) {
  check(threads >= 1, "a backend needs at least one thread");
  std::string known = "cpu";
  std::string missing;
  for (const BackendEntry& entry : kBackends) {
    known += fmt::format(", {}", entry.name);
    if (!is_meant(entry.name, device)) continue;
    missing = entry.missing();
    if (missing.empty()) return entry.make(threads);
  }
  if (missing.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("device \"{}\": unknown; known: {}", device, known));
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": {}", device, missing));
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  for (const BackendEntry& entry : kBackends) {
    if (entry.missing().empty()) devices.push_back(entry.make(1)->device());
  }
  return devices;
}

}  // namespace quorate
