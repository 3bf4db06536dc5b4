#include "server/hosts/join_limit.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace quorate {
namespace {

// How many of `tries` may join now.
int joined(JoinLimit& limit, int tries, const auto& place) {
  int count = 0;
  for (int i = 0; i < tries; ++i) {
    if (!limit.join(place)) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a laboratory joins at once, a flood waits") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  CHECK(joined(limit, 100, "192.0.2.1") == 100);
  CHECK(joined(limit, 10000, "192.0.2.1") == 20);
  CHECK(joined(limit, 1, "192.0.2.2") == 1);
  std::optional<Seconds> wait = limit.join("192.0.2.1");
  REQUIRE(wait.has_value());
  CHECK(wait->count() == doctest::Approx(6));
  clock.advance(*wait + Seconds(0.001));
  CHECK(joined(limit, 10, "192.0.2.1") == 1);
  clock.advance(Seconds(60));
  CHECK(joined(limit, 1000, "192.0.2.1") == 10);
}

TEST_CASE("a place that was quiet for long has no more than a full bucket") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  CHECK(joined(limit, 1, "a") == 1);
  clock.advance(Seconds(1e6));
  CHECK(joined(limit, 1000, "a") == 120);
}

TEST_CASE("whoever has many networks has no more than the widest allows") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  const auto from = [&](int tries, const std::string& address) {
    return joined(limit, tries, places_of(address));
  };
  CHECK(from(1000, "2001:db8:1:1::1") == 120);
  // Of its /56, 4 times that.
  int of_one = 120;
  for (int i = 2; i < 200; ++i) {
    of_one += from(1000, fmt::format("2001:db8:1:{:x}::1", i));
  }
  CHECK(of_one == 4 * 120);
  // Of its /48, 16 times.
  int of_all = of_one;
  for (int i = 1; i < 200; ++i) {
    of_all += from(1000, fmt::format("2001:db8:1:{:x}00::1", i));
  }
  CHECK(of_all == 16 * 120);
  CHECK(from(1000, "2001:db8:2::1") == 120);
  // What was refused was counted nowhere.
  clock.advance(Seconds(6));
  CHECK(from(10, "2001:db8:1:f000::1") == 10);
}

TEST_CASE("what is refused takes no place") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  int taken = 0;
  for (std::size_t i = 0; i < 2 * JoinLimit::kMostPlaces; ++i) {
    taken += joined(
        limit, 1,
        places_of(fmt::format("2001:db8:{:x}:{:x}::1", i / 65536, i % 65536)));
  }
  CHECK(taken == 4 * 16 * 120);
  CHECK(joined(limit, 1000, "192.0.2.1") == 120);
}

TEST_CASE("an address is not kept for longer than it counts") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  CHECK(joined(limit, 100, "192.0.2.1") == 100);
  CHECK(joined(limit, 1, "192.0.2.2") == 1);
  clock.advance(Seconds(60));
  CHECK(joined(limit, 1, "192.0.2.3") == 1);
  CHECK(limit.places_known() == 2);
  clock.advance(JoinLimit::kBurst);
  CHECK(joined(limit, 1, "192.0.2.4") == 1);
  CHECK(limit.places_known() == 1);
}

TEST_CASE("there is no end of places, but one of what they cost") {
  ManualClock clock;
  JoinLimit limit(10, clock);
  std::size_t count = 0;
  for (std::size_t i = 0; i < JoinLimit::kMostPlaces + 1000; ++i) {
    if (!limit.join(std::to_string(i))) ++count;
  }
  CHECK(count == JoinLimit::kMostPlaces + 120);
  CHECK(joined(limit, 1, "0") == 1);  // still its own
  clock.advance(Seconds(60));
  CHECK(joined(limit, 200, "new") == 120);
}

TEST_CASE("places that cannot be made up may be many, each with its own") {
  ManualClock clock;
  JoinLimit limit(10, clock, 2 * JoinLimit::kMostPlaces);
  std::size_t count = 0;
  for (std::size_t i = 0; i < 2 * JoinLimit::kMostPlaces; ++i) {
    if (!limit.join(std::to_string(i))) ++count;
  }
  CHECK(count == 2 * JoinLimit::kMostPlaces);
}

}  // namespace quorate
