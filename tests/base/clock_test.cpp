#include "base/clock.h"

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("a manual clock moves when told to") {
  ManualClock clock;
  Instant start = clock.now();
  std::int64_t start_ms = clock.unix_ms();
  CHECK(clock.now() == start);
  clock.advance(Seconds(2.5));
  CHECK(clock.now() - start == Seconds(2.5));
  CHECK(clock.unix_ms() - start_ms == 2500);
}

TEST_CASE("the system clock does not run backwards and knows the century") {
  SystemClock clock;
  Instant first = clock.now();
  CHECK(clock.now() >= first);
  CHECK(clock.unix_ms() > 1'700'000'000'000);
}

}  // namespace quorate
