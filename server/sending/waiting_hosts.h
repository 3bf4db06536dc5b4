// Hosts whose question for work waits for an answer: at most one of each host.
// The writer's thread only; answered when there is work, when `until` has
// passed, or when the server stops.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/clock.h"
#include "server/sending/work_wish.h"
#include "workunits/workunit.h"

namespace quorate {

// answer: what was to be said anyway, to which work is added. send: called
// once.
struct WaitingHost {
  WorkWish wish;
  WorkAnswer answer;
  Instant until;
  std::uint64_t turn = 0;  // who asked earlier has a lower one
  std::function<void(WorkAnswer)> send;
};

using WaitingHosts = std::map<HostId, WaitingHost>;

}  // namespace quorate
