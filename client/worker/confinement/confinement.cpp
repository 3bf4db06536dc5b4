#include "client/worker/confinement/confinement.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/error.h"
#include "client/worker/confinement/landlock.h"
#include "client/worker/confinement/system_calls.h"
#include "protocol/worker/messages.h"

namespace quorate::worker {
namespace {

// Programs, libraries, drivers and what they ask about the machine.
constexpr const char* kReadPaths[] = {"/usr",
                                      "/lib",
                                      "/lib64",
                                      "/opt",
                                      "/etc/OpenCL",
                                      "/etc/alternatives",
                                      "/etc/ld.so.cache",
                                      "/etc/localtime",
                                      "/etc/nvidia",
                                      "/sys",
                                      "/proc",
                                      "/dev/null",
                                      "/dev/random",
                                      "/dev/urandom",
                                      "/dev/zero"};
constexpr const char* kWriteCpu[] = {"/dev/null", "/dev/zero"};
constexpr const char* kWriteGpu[] = {"/dev/dri",
                                     "/dev/kfd",
                                     "/dev/nvidia0",
                                     "/dev/nvidia1",
                                     "/dev/nvidia2",
                                     "/dev/nvidia3",
                                     "/dev/nvidia4",
                                     "/dev/nvidia5",
                                     "/dev/nvidia6",
                                     "/dev/nvidia7",
                                     "/dev/nvidiactl",
                                     "/dev/nvidia-uvm",
                                     "/dev/nvidia-uvm-tools",
                                     "/dev/nvidia-caps"};

// Drivers keep what they compiled: in our folder, for the usual one holds other
// programs' files, too. Where somebody has chosen a place for a driver, it may
// write there. Returns these places.
std::vector<fs::path> keep_caches_in(const fs::path& folder) {
  const fs::path cache = folder / "drivers";
  make_private_folder(cache);
  for (const char* name : {"XDG_CACHE_HOME", "TMPDIR"}) {
    ::setenv(name, cache.c_str(), 1);
  }
  std::vector<fs::path> chosen;
  for (const char* name :
       {"CUDA_CACHE_PATH", "POCL_CACHE_DIR", "MESA_SHADER_CACHE_DIR"}) {
    const char* place = std::getenv(name);
    if (place != nullptr) {
      chosen.emplace_back(place);
    } else {
      ::setenv(name, cache.c_str(), 1);
    }
  }
  return chosen;
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  now.rlim_cur = std::min(now.rlim_cur, most);
  now.rlim_max = std::min(now.rlim_max, most);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

}  // namespace

std::string text_of(const Confinement& confinement) {
  if (confinement.is_whole()) return std::string(protocol::kConfined);
  if (confinement.files.empty() || confinement.calls.empty()) {
    return "partly confined: " + confinement.files + confinement.calls;
  }
  return fmt::format("not confined: {}; {}", confinement.files,
                     confinement.calls);
}

std::string confine_files(const ConfinementOptions& options) {
  constexpr rlim_t kDescriptors = 1024;
  limit(RLIMIT_CORE, 0);  // a core has keys and data of others
  limit(RLIMIT_NOFILE, kDescriptors);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fmt::format("no new privileges: {}", std::strerror(errno));
  }
  FileRules rules;
  rules.own = options.folders;
  for (const char* path : kReadPaths) rules.read.emplace_back(path);
  for (const char* path : kWriteCpu) rules.write.emplace_back(path);
  if (options.is_gpu) {
    for (const fs::path& place : keep_caches_in(options.folders.at(0))) {
      rules.own.push_back(place);
    }
    for (const char* path : kWriteGpu) rules.write.emplace_back(path);
    // OpenCL on a CPU links what it compiled.
    rules.may_execute = true;
  }
  return restrict_files(rules);
}

std::string confine_calls(const ConfinementOptions& options) {
  return options.is_gpu ? deny_calls() : allow_calls();
}

}  // namespace quorate::worker
