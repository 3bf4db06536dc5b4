// Hosts whose question for work waits for an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/clock.h"
#include "protocol/native/messages.h"
#include "workunits/workunit.h"

namespace quorate {

struct WaitingHost {
  protocol::WorkRequest request;
  protocol::WorkReply reply;
  Instant until;
  std::uint64_t turn = 0;  // who asked earlier has a lower one
  std::function<void(protocol::WorkReply)> answer;
};

using WaitingHosts = std::map<HostId, WaitingHost>;

}  // namespace quorate
