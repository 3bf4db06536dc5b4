// What the volunteer chooses for one run, and the numbers that we chose for
// them.
//
// The room client/machine knows this computer: devices and their speeds, cores,
// memory, power, load, and what the command line says of them. It owns
// devices.json and starts short-lived workers to ask about devices; it may
// include no other room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace quorate::client {

struct RunSettings {
  // Names of devices; "auto" alone: the agent chooses. A GPU has a worker as
  // often as it is named.
  std::vector<std::string> devices{"auto"};
  std::uint32_t tasks = 1;    // that a CPU computes at the same time, 1 to 64
  std::uint32_t threads = 0;  // of each of those; 0: the cores, shared fairly
  std::uint32_t cpu_percent = 0;  // 0: what the preferences say
  std::uint32_t gpu_percent = 0;  // alike
  bool once = false;              // report one result, then leave
};

// $XDG_DATA_HOME/quorate, else ~/.local/share/quorate. Throws usage when
// neither XDG_DATA_HOME nor HOME is set.
fs::path default_data_folder();

// The device of every worker of a run, in the order of settings.devices.
std::vector<std::string> workers_of(const RunSettings& settings);

// Threads of one task of a CPU on this machine. cores: to be used by all tasks,
// one by each GPU's, unless the settings say how many each has; 0: all.
std::uint32_t threads_of_a_task(const RunSettings& settings,
                                std::uint32_t cores);

// The worker gives way to whatever the volunteer does.
inline constexpr int kWorkerNiceness = 10;
// Shards that no task needs at present are kept up to this size, unless the
// preferences say otherwise: the server likes to send a host more work on the
// shards that it has.
inline constexpr std::uint64_t kShardCacheBytes = 1ULL << 30;
// Disk space that downloads leave to the volunteer.
inline constexpr std::uint64_t kDiskReserveBytes = 64ULL << 20;
// A worker has this long to write a checkpoint before it is killed.
inline constexpr Seconds kStopTime{0.8};
// A worker that was told to stop has this long to get to the end of its step;
// then it is ended, and the work since the last checkpoint is lost. A pause,
// the allowed hours and a cancellation hold within it, however long a step
// takes.
inline constexpr Seconds kStopPatience{5};
// The worker program has this long to say what a device can do. Long, since a
// GPU's driver may have to compile first.
inline constexpr Seconds kDevicePatience{300};
// How often the agent looks whether it should pause or leave.
inline constexpr Seconds kTick{0.25};
// The longest wait for work that the protocol allows.
inline constexpr Seconds kLongPoll{25};
// A reported result whose closing we never hear of is forgotten after this.
inline constexpr Seconds kKeepReported{86400};

}  // namespace quorate::client
