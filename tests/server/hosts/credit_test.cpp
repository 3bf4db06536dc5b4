#include "server/hosts/credit.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr Millis kDay = 86'400'000;
constexpr Millis kStart = 1'700'000'000'000;

RecentCredit granted(const RecentCredit& before, double credit, Millis when) {
  return add_recent(before, credit, when, when);
}

}  // namespace

TEST_CASE("recent credit halves in a week") {
  const RecentCredit ten{10, kStart};
  CHECK(recent_credit(ten, kStart) == 10);
  CHECK(recent_credit(ten, kStart + 7 * kDay) == doctest::Approx(5));
  CHECK(recent_credit(ten, kStart + 14 * kDay) == doctest::Approx(2.5));
  CHECK(recent_credit(ten, kStart - kDay) == 10);  // the clock was set back
  CHECK(recent_credit({}, kStart) == 0);
}

TEST_CASE("who always gets as much a day has that for an average") {
  RecentCredit recent;
  for (int hour = 0; hour < 24 * 70; ++hour) {
    recent = granted(recent, 2, kStart + hour * kDay / 24);
  }
  CHECK(recent.per_day == doctest::Approx(48).epsilon(0.01));
  CHECK(recent.at == kStart + (24 * 70 - 1) * kDay / 24);
}

TEST_CASE("a grant counts as in BOINC's average, and can be taken back") {
  // update_average() of 100 credits, a second after an average of 3 a day.
  const RecentCredit recent = granted({3, kStart}, 100, kStart + 1000);
  CHECK(recent.per_day == doctest::Approx(12.9021).epsilon(1e-5));
  CHECK(granted(recent, -100, recent.at).per_day ==
        doctest::Approx(3).epsilon(1e-4));
  CHECK(granted(recent, -200, recent.at).per_day == 0);
  CHECK(granted(recent, 1, kStart).at == recent.at);
}

TEST_CASE("what is taken back later takes nothing of other grants") {
  const Millis later = kStart + 14 * kDay;
  const RecentCredit both = granted(granted({}, 100, kStart), 50, later);
  const RecentCredit one = add_recent(both, -100, kStart, later);
  CHECK(one.per_day == doctest::Approx(granted({}, 50, later).per_day));
}

}  // namespace quorate
