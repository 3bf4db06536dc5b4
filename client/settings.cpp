#include "client/settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "client/host_info.h"

namespace quorate::client {

fs::path default_data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') return fs::path(data) / "quorate";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') {
    return fs::path(home) / ".local/share/quorate";
  }
  throw Error(ErrorKind::usage,
              "find the data folder: neither XDG_DATA_HOME nor HOME is set: "
              "name a folder with --dir");
}

std::uint32_t threads_of_a_task(const RunSettings& settings,
                                std::uint32_t cores) {
  if (settings.threads != 0) return settings.threads;
  if (cores == 0) cores = physical_cores();
  return std::max(1U, cores / std::max(1U, settings.tasks));
}

}  // namespace quorate::client
