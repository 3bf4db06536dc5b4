#include "client/machine/host_info.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sched.h>

namespace quorate::client {
namespace {

// Names the core of a processor by the processors that share it: "0,4".
// Without such a file every processor counts as a core.
std::string core_of(int processor) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/"
                  "thread_siblings_list",
                  processor));
  std::string siblings;
  if (!std::getline(file, siblings)) siblings = std::to_string(processor);
  return siblings;
}

utsname system_names() {
  utsname names{};
  ::uname(&names);
  return names;
}

}  // namespace

std::uint32_t physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) cores.insert(core_of(processor));
  }
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(cores.size()));
}

std::uint32_t machine_memory_mb() {
  auto pages =
      static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  auto page_bytes =
      static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return static_cast<std::uint32_t>(pages * page_bytes >> 20);
}

std::string platform_text() {
  utsname names = system_names();
  std::string system = names.sysname;
  std::transform(system.begin(), system.end(), system.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  double gib = machine_memory_mb() / 1024.0;
  return fmt::format("{}-{}, {} cores, {:.0f} GiB", system, names.machine,
                     physical_cores(), gib);
}

std::string host_name() {
  return system_names().nodename;
}

}  // namespace quorate::client
