// Which results and workunits somebody wants to see: the questions of the
// operator's lists. What is 0 or empty does not matter. The store in memory
// asks matches(), SQLite has the same conditions as SQL (sqlite/filtered.cpp);
// the store's contract compares them.
#pragma once

#include <optional>
#include <string>

#include "workunits/workunit.h"

namespace quorate {

struct ResultFilter {
  RunKey run = 0;
  HostId host = 0;
  UserId user = 0;
  std::optional<ServerState> server_state{};
  std::optional<ResultOutcome> outcome{};
  std::optional<ValidateState> validate_state{};
  // Reported and let through by screening, without a verdict so far.
  bool is_waiting = false;
  Millis since = 0;      // sent or reported then or later
  std::string device{};  // part of the name of the device that reported it
};

// host, user, device: one of the unit's results is theirs.
struct WorkunitFilter {
  RunKey run = 0;
  HostId host = 0;
  UserId user = 0;
  std::optional<WorkunitState> state{};
  std::optional<UnitCheck> check{};
  Millis since = 0;  // made, judged, closed or checked then or later
  std::string device{};

  // Of one of its results.
  ResultFilter holder() const {
    return {.host = host, .user = user, .device = device};
  }
  bool has_holder() const { return host != 0 || user != 0 || !device.empty(); }
};

bool matches(const ResultFilter& filter, const Result& result);
// Without host, user and device, which are its results' matter.
bool matches(const WorkunitFilter& filter, const Workunit& unit);

}  // namespace quorate
