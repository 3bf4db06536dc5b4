// How much work a BOINC client gets now, for which of its processors: decided
// from its request alone. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/boinc/scheduler_request.h"
#include "server/apps/app_manifest.h"

namespace quorate::boinc {

// Work for one kind of processor.
struct DeviceOrder {
  DeviceKind kind = DeviceKind::cpu;
  std::string plan_class;   // of the app version that serves it
  std::string coproc_type;  // "NVIDIA", "ATI", "intel_gpu"; empty: a CPU
  double ncpus = 1;         // CPUs that one task takes
  std::string model;        // of the processor, for people
  // Operations a second of one task, as the client claims; a guess until its
  // results say more.
  double claimed_flops = 0;
  std::uint32_t want = 0;  // results to send; at least 1
};

// Of each kind that the client asks for: as many tasks as it computes at a time
// and as many again, so that it never waits for us, less what it has. A client
// asks for seconds of work, perhaps for days: beyond that its results would be
// stale when they come.
std::vector<DeviceOrder> order_work(const SchedulerRequest& request);

}  // namespace quorate::boinc
