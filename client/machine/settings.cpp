#include "client/machine/settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "client/machine/host_info.h"
#include "protocol/worker/worker_process.h"

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

std::vector<std::string> workers_of(const RunSettings& settings) {
  std::vector<std::string> workers;
  for (const std::string& device : settings.devices) {
    bool is_gpu = protocol::is_gpu_name(device);
    workers.insert(workers.end(), is_gpu ? 1 : settings.tasks, device);
  }
  return workers;
}

std::uint32_t threads_of_a_task(const RunSettings& settings,
                                std::uint32_t cores) {
  if (settings.threads != 0) return settings.threads;
  if (cores == 0) cores = physical_cores();
  std::vector<std::string> workers = workers_of(settings);
  auto gpus = static_cast<std::uint32_t>(
      std::count_if(workers.begin(), workers.end(), protocol::is_gpu_name));
  auto tasks = static_cast<std::uint32_t>(workers.size()) - gpus;
  return std::max(1U, (cores - std::min(cores, gpus)) / std::max(1U, tasks));
}

}  // namespace quorate::client
