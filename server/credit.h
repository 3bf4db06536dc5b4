// What validated work is worth, counted from the unit's known operations and
// never from what a host says.
#pragma once

namespace quorate {

// One cobblestone: 1/200 of a day on a machine of 1 Gflop/s, as in BOINC.
inline constexpr double kOperationsPerCredit = 4.32e11;

// operations: Workunit::operations.
inline double credit_of(double operations) {
  return operations / kOperationsPerCredit;
}

}  // namespace quorate
