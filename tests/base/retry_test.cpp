#include "base/retry.h"

#include <set>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("delays double up to the most, between half and the whole") {
  for (std::uint32_t attempt = 1; attempt < 40; ++attempt) {
    CAPTURE(attempt);
    double whole = 60;
    if (attempt < 8) whole = 0.5 * static_cast<double>(1 << (attempt - 1));
    if (whole > 60) whole = 60;
    Seconds delay = retry_delay(attempt, 7);
    CHECK(delay.count() >= whole / 2);
    CHECK(delay.count() <= whole);
  }
}

TEST_CASE("the same attempt and seed wait as long; seeds spread") {
  CHECK(retry_delay(3, 5) == retry_delay(3, 5));
  std::set<double> delays;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    delays.insert(retry_delay(3, seed).count());
  }
  CHECK(delays.size() == 50);
}

TEST_CASE("any attempt number has a delay within bounds") {
  for (std::uint32_t attempt : {0U, 1000U, 0xffffffffU}) {
    Seconds delay = retry_delay(attempt, 1, Seconds(1), Seconds(10));
    CHECK(delay > Seconds(0));
    CHECK(delay <= Seconds(10));
  }
}

}  // namespace quorate
