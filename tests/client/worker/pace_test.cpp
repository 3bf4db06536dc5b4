#include "client/worker/units/pace.h"

#include <doctest/doctest.h>

namespace quorate::worker {

TEST_CASE("progress is due four times a second, checkpoints every ten") {
  ManualClock clock;
  Pace pace(clock, 100);
  int reports = 0;
  int checkpoints = 0;
  for (int i = 0; i < 30'000; ++i) {
    clock.advance(Seconds(0.001));
    if (pace.is_progress_due()) ++reports;
    if (pace.is_checkpoint_due()) ++checkpoints;
  }
  CHECK(reports >= 118);
  CHECK(reports <= 120);
  CHECK(checkpoints >= 2);
  CHECK(checkpoints <= 3);
}

TEST_CASE("at 100 percent there is no rest") {
  ManualClock clock;
  Pace pace(clock, 100);
  clock.advance(Seconds(100));
  CHECK(pace.rest_due() == Seconds(0));
}

TEST_CASE("rests make the work the share that was asked for") {
  for (std::uint32_t percent : {1U, 25U, 50U, 80U}) {
    for (double step : {0.0001, 0.03, 2.0}) {
      ManualClock clock;
      Pace pace(clock, percent);
      double worked = 0;
      double rested = 0;
      for (int i = 0; i < 2000; ++i) {
        clock.advance(Seconds(step));
        worked += step;
        Seconds rest = pace.rest_due();
        CHECK((rest == Seconds(0) || rest >= Seconds(0.0099)));
        if (rest > Seconds(0)) {
          clock.advance(rest);
          rested += rest.count();
          pace.resume();
        }
      }
      CAPTURE(percent);
      CAPTURE(step);
      // Less than one shortest rest is still owed.
      CHECK(rested + 0.011 >= worked * (100.0 - percent) / percent);
      CHECK(rested <= worked * (100.0 - percent) / percent * 1.0001);
    }
  }
}

}  // namespace quorate::worker
