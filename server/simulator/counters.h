// What a simulation has counted since its start.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace quorate {

struct Counters {
  std::uint64_t requests = 0;  // asks, heartbeats and reports of volunteers
  std::uint64_t assignments = 0;
  std::uint64_t reports = 0;
  std::uint64_t refused = 0;   // reports that came too late, or were rejected
  std::uint64_t given_up = 0;  // units, by hosts or because the server said so
  std::uint64_t machines_lost = 0;
  std::uint64_t bytes_down = 0;  // of volunteers' hosts
  std::uint64_t bytes_up = 0;
  Seconds computing{0};  // of all workers together
  Seconds present{0};    // of all hosts together, up to the last look
  double cost = 0;       // of the time that hosts were there
};

}  // namespace quorate
