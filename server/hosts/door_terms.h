// What the server expects of a host, and grants it, by the door that it came
// through: the one place that knows how a stock BOINC client differs from our
// own. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "server/settings/settings.h"

namespace quorate {

struct DoorTerms {
  // How long a host may be silent before its results go to others.
  Seconds lease{0};
  // A host at work was heard from within this: our own client owes heartbeats,
  // a stock one owes nothing, but is told when to come back.
  Seconds patience{0};
  // How long a result is kept for the host that was drawn for it, and one that
  // has to be a proven host's. A stock client with enough to do asks for no
  // more: when it has been there twice and not taken it, it will not.
  Seconds reservation{0};
  Seconds anchor_reservation{0};
  // By when a host that is there has come back to a server that started.
  Seconds comes_back{0};
  // What a unit should take at least, for what it costs beside the computing:
  // 1 to 2 s in a stock client.
  Seconds shortest_unit{0};
  // Makes a version of the model from the last one and what changed.
  bool takes_changes = false;
};

// door: kNativeDoor, kBoincDoor or kHouseDoor.
DoorTerms door_terms(const std::string& door, const ServerSettings& settings);

}  // namespace quorate
