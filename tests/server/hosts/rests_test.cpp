#include "server/hosts/rests.h"

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("the more results fail in a row, the longer a host rests") {
  CHECK(rest_after(0, 7) == Seconds(0));
  CHECK(rest_after(2, 7) == Seconds(0));
  for (HostId host : {7, 8, 9}) {
    CHECK(rest_after(3, host) > Seconds(0));
    CHECK(rest_after(3, host) <= Seconds(1));
    CHECK(rest_after(6, host) > rest_after(3, host));
    CHECK(rest_after(20, host) >= Seconds(150));
    CHECK(rest_after(4'000'000'000, host) <= Seconds(300));
  }
}

TEST_CASE("a valid result ends the rest of its host, and of no other") {
  Rests rests;
  Instant now{Seconds(100)};
  CHECK_FALSE(rests.is_resting(7, now));
  for (int i = 0; i < 3; ++i) {
    rests.failed(7, now);
    rests.failed(8, now);
  }
  CHECK(rests.is_resting(7, now));
  CHECK_FALSE(rests.is_resting(7, now + Seconds(1)));
  rests.succeeded(7);
  CHECK_FALSE(rests.is_resting(7, now));
  CHECK(rests.is_resting(8, now));
}

}  // namespace quorate
