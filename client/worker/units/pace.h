// When a job reports, saves and rests: decisions of time alone, so that tests
// bring their own clock.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace quorate::worker {

inline constexpr Seconds kProgressInterval{0.25};
inline constexpr Seconds kCheckpointInterval{10};

// Used by the thread that computes.
class Pace {
 public:
  // cpu_percent: share of the time that is spent computing, 1 to 100.
  Pace(const Clock& clock, std::uint32_t cpu_percent);

  // True at most once in an interval, which starts with the object.
  bool is_progress_due();
  bool is_checkpoint_due();

  // How long to rest now, for the work since the last call (or since resume())
  // to be cpu_percent of the time. Short rests are put off and added up: a
  // sleep of less than 10 ms is not kept well by the system.
  Seconds rest_due();
  // Begins to count work again, after a rest.
  void resume();

 private:
  bool is_due(Instant& last, Seconds interval);

  const Clock& clock_;
  double rest_per_work_;
  Instant last_progress_;
  Instant last_checkpoint_;
  Instant work_began_;
  Seconds owed_{0};
};

}  // namespace quorate::worker
