// What a host asks of the scheduler, whichever door it came through, and what
// it gets. The doors translate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/assignment.h"
#include "workunits/workunit.h"

namespace quorate {

struct WorkWish {
  std::uint32_t want = 0;         // results that the host would take now
  Seconds wait{0};                // for an answer, if there is nothing yet
  std::string device;             // that will compute them
  double speed_flops = 0;         // of the device; 0: unknown
  std::vector<ResultId> holding;  // every result that the host has
  // Shards that the host has, the last used first: a hint, for which units to
  // make.
  std::vector<Hash> shards;
};

// What a host is told. Empty is an answer, too.
struct WorkAnswer {
  std::vector<Assignment> assignments;
  std::vector<ResultId> cancel;  // stop these, their results are not needed
  std::vector<ResultId> closed;  // payloads that may be forgotten
  Seconds retry_after{0};        // ask again after this

  bool is_empty() const {
    return assignments.empty() && cancel.empty() && closed.empty();
  }
};

}  // namespace quorate
