// What the transitioner has to look at before the job ends: its events.
//
// Filled by whoever changes a unit or a host, emptied by
// Transitioner::settle(). Lost if the process dies: at its start every live
// unit is looked at.
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
