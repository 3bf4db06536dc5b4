// Hosts whose question for work waits for an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/clock.h"
#include "server/sending/work_wish.h"
#include "workunits/workunit.h"

namespace quorate {

struct WaitingHost {
  WorkWish wish;
  WorkAnswer answer;
  Instant until;
  std::uint64_t turn = 0;  // who asked earlier has a lower one
  std::function<void(WorkAnswer)> send;
};

using WaitingHosts = std::map<HostId, WaitingHost>;

}  // namespace quorate
