// What the transitioner has to look at before the job ends: its events.
#pragma once

#include <set>

#include "workunits/workunit.h"

namespace quorate {

struct DueUnits {
  // Something happened to them.
  std::set<WorkunitId> units;
  // Hosts that have lost trust: others get what they have.
  std::set<HostId> fallen;
};

}  // namespace quorate
