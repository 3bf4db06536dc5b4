// Hosts whose results fail get new work more slowly: a broken machine, or a
// hostile one, must not use up a run's units. In memory: forgotten at a
// restart.
#pragma once

#include <cstdint>
#include <map>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

// How long a host rests after so many failures in a row: not after two, which
// happens to anybody, then as base/retry has it: about 1 s, doubled each time,
// up to 5 minutes. Pure.
Seconds rest_after(std::uint32_t failures, HostId host);

class Rests {
 public:
  // A result of the host failed, or took too long although the host was here.
  void failed(HostId host, Instant now);
  // One of its results was valid.
  void succeeded(HostId host) { rests_.erase(host); }
  // True: it gets no new work; what it has goes on.
  bool is_resting(HostId host, Instant now) const;

 private:
  struct Rest {
    std::uint32_t failures = 0;  // in a row
    Instant until{};
  };
  std::map<HostId, Rest> rests_;
};

}  // namespace quorate
