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
  bool is_ahead = false;  // its workers have one each to compute
};

// Every worker shall have a result to compute and then the next one at hand:
// two questions, for where units are few, as in a round, one device would get
// those of the others with the first. The device that has least comes first;
// nullopt: there is enough. once: one result is wanted in all.
std::optional<WorkWish> work_wanted(std::span<const DeviceWorkers> devices,
                                    const std::vector<Task>& tasks, bool once);

// Whether the wish is worth asking while the question for another waits: a
// device has nothing to compute, and the other is ahead. In rounds a question
// that is ahead waits for as long as the round. The server then gives it up.
bool goes_before(const WorkWish& wish, const WorkWish& asked);

}  // namespace quorate::client
