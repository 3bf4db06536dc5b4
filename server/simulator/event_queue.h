// What is still to happen in a simulation, in the order of its time; what falls
// on the same moment, in the order in which it was planned.
#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

enum class EventKind : std::uint8_t {
  join,
  leave,
  come_back,
  ask,
  heartbeat,
  downloaded,
  computed,
  lost,
  uploaded,
};

struct PlannedEvent {
  Seconds at{0};  // since the start
  std::uint64_t order = 0;
  std::uint32_t host = 0;  // its place among the simulated ones
  // Of the host when this was planned: it has no meaning if the host has left,
  // or come back, since.
  std::uint32_t stay = 0;
  ResultId result = 0;
  EventKind kind = EventKind::join;

  bool operator>(const PlannedEvent& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};

// Grows with hosts and results under way. Ties are broken by the order of
// add(), which is what makes a simulation repeatable.
class EventQueue {
 public:
  void add(PlannedEvent event) {
    event.order = ++order_;
    events_.push(event);
  }
  bool is_empty() const { return events_.empty(); }
  Seconds next_time() const { return events_.top().at; }
  // The next event; not to be called when it is empty, like next_time().
  PlannedEvent take() {
    PlannedEvent event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::uint64_t order_ = 0;
  std::priority_queue<PlannedEvent, std::vector<PlannedEvent>, std::greater<>>
      events_;
};

}  // namespace quorate
