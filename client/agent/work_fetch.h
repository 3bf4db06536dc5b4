// For which device the agent asks for work, and for how much: units are made as
// long as their device is fast.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/units/task.h"

namespace quorate::client {

// The workers on one device.
struct DeviceWorkers {
  std::string device;         // as the volunteer named it: "cpu", "cuda:0"
  std::uint32_t workers = 0;  // that may compute
  bool is_ready = false;      // one of them is, or was
  double speed_flops = 0;     // of one, from its last result; 0: unknown
};

struct WorkWish {
  std::string device;
  double speed_flops = 0;
  std::uint32_t results = 0;
};

// Every worker shall have a result to compute and the next one at hand. The
// device that has least comes first; nullopt: there is enough. once: one result
// is wanted in all.
std::optional<WorkWish> work_wanted(std::span<const DeviceWorkers> devices,
                                    const std::vector<Task>& tasks, bool once);

}  // namespace quorate::client
