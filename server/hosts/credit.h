// What validated work is worth, counted from the unit's known operations and
// never from what a host says.
#pragma once

#include <algorithm>
#include <cmath>

#include "workunits/host.h"

namespace quorate {

// One cobblestone: 1/200 of a day on a machine of 1 Gflop/s, as in BOINC.
inline constexpr double kOperationsPerCredit = 4.32e11;

// operations: Workunit::operations.
inline double credit_of(double operations) {
  return operations / kOperationsPerCredit;
}

// BOINC's recent average credit, which clients show: lib/util.cpp,
// update_average(), with a half-life of a week. There a grant is spread over
// the time since the last one; here it counts at its moment, BOINC's own limit
// for short times. So a first grant is not taken for a rate, and in which order
// grants come does not matter.
inline constexpr double kHalfLifeDays = 7;

// Credit a day at `now`. A clock that was set back changes nothing.
inline double recent_credit(const RecentCredit& recent, Millis now) {
  constexpr double kMillisPerDay = 86'400e3;
  const double days =
      static_cast<double>(std::max<Millis>(0, now - recent.at)) / kMillisPerDay;
  return recent.per_day * std::exp2(-days / kHalfLifeDays);
}

// credit: granted then, of which some is forgotten; negative: taken back.
inline RecentCredit add_recent(const RecentCredit& recent, double credit,
                               Millis granted, Millis now) {
  const RecentCredit added{credit * std::log(2.0) / kHalfLifeDays, granted};
  return {std::max(0.0, recent_credit(recent, now) + recent_credit(added, now)),
          std::max(recent.at, now)};
}

}  // namespace quorate
