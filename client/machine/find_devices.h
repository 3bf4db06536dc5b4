// Asks the worker program what devices this computer has and how fast they are,
// each time in a process of its own with a time limit: drivers of GPUs crash
// and hang.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace quorate::client {

// References outlive the call.
struct DeviceQuestion {
  std::string program;      // path of quorate-worker
  fs::path kept;            // where measurements are kept: devices.json
  std::uint32_t cores = 1;  // that may compute
  Seconds patience{300};    // for one answer
  const Clock& clock;
  const std::atomic<bool>& should_leave;  // ends the waiting
};

// The devices for the workers of a run, best first, as choose_devices() has it;
// what is not known yet is measured, if there is a GPU at all. A device that
// crashes, hangs or does not compute exactly is left out, and the log says why.
// At least one; what cannot be found out leaves the CPU.
std::vector<std::string> find_devices(const DeviceQuestion& question);

}  // namespace quorate::client
