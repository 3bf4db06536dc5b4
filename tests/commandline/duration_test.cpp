#include "commandline/duration.h"

#include <doctest/doctest.h>

namespace quorate::commandline {

TEST_CASE("lengths of time are read as people type them") {
  CHECK(seconds_in("90s") == 90);
  CHECK(seconds_in("45m") == 2700);
  CHECK(seconds_in("1h30m") == 5400);
  CHECK(seconds_in("2d") == 172800);
  CHECK(seconds_in("0s") == 0);
  for (const char* none :
       {"", "5", "m", "1m1h", "1h1h", "-1h", "1 h", "1w", "99999999999s"}) {
    CAPTURE(none);
    CHECK_FALSE(seconds_in(none));
  }
}

}  // namespace quorate::commandline
