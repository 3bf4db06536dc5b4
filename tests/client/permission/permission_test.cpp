#include "client/permission/permission.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace quorate::client {
namespace {

// A moment for which no time zone matters.
constexpr std::int64_t kNow = 1'700'000'000'000;

Prefs prefs_with(const char* key, const char* value) {
  Prefs prefs;
  set(prefs, pref_info(key), value);
  return prefs;
}

// Allowed at every minute of the week but those around kNow.
Prefs outside_of_hours() {
  WeekTime now = week_time(kNow);
  int next = (now.minute + 1) % 1440;
  auto text = [](int minute) {
    std::string hour = std::to_string(100 + minute / 60).substr(1);
    return hour + ":" + std::to_string(100 + minute % 60).substr(1);
  };
  Prefs prefs;
  set(prefs, pref_info("hours"), text(next) + "-" + text(now.minute));
  return prefs;
}

Conditions others_at(double percent, bool rests_for_load = false) {
  Conditions conditions;
  conditions.others_percent = percent;
  if (rests_for_load) conditions.last = Rest::load;
  return conditions;
}

Conditions typed_before(double seconds) {
  Conditions conditions;
  conditions.since_typed = Seconds(seconds);
  return conditions;
}

Conditions at_celsius(double degrees, double rested = -1) {
  Conditions conditions;
  conditions.celsius = degrees;
  if (rested >= 0) {
    conditions.last = Rest::heat;
    conditions.since_last = Seconds(rested);
  }
  return conditions;
}

Conditions stalled(double percent, bool rests_for_it = false) {
  Conditions conditions;
  conditions.memory_stall = percent;
  if (rests_for_it) conditions.last = Rest::memory;
  return conditions;
}

Conditions on_battery() {
  Conditions conditions;
  conditions.is_on_battery = true;
  return conditions;
}

Conditions paused() {
  Conditions conditions = on_battery();
  conditions.pause = Pause{};
  return conditions;
}

TEST_CASE("whether the machine may compute") {
  struct Row {
    const char* what;
    Prefs prefs;
    Conditions conditions;
    Rest rest;
  };
  const Prefs load = prefs_with("max_load", "40");
  const Prefs idle = prefs_with("idle_minutes", "10");
  const Prefs cool = prefs_with("max_celsius", "70");
  const Row table[] = {
      {"nothing in the way", {}, {}, Rest::none},
      {"a person's word comes first", {}, paused(), Rest::paused},
      {"outside of the hours", outside_of_hours(), {}, Rest::hours},
      {"on battery", {}, on_battery(), Rest::battery},
      {"on battery, allowed", prefs_with("on_battery", "yes"), on_battery(),
       Rest::none},
      {"any heat", {}, at_celsius(105), Rest::none},
      {"nearly too hot", cool, at_celsius(69.9), Rest::none},
      {"too hot", cool, at_celsius(70), Rest::heat},
      {"cooled at once", cool, at_celsius(40, 59), Rest::heat},
      {"cooled for long enough", cool, at_celsius(63, 60), Rest::none},
      {"not cool enough", cool, at_celsius(63.1, 600), Rest::heat},
      {"no sensor", cool, {}, Rest::none},
      {"some waiting", {}, stalled(9), Rest::none},
      {"much waiting", {}, stalled(11), Rest::memory},
      {"less waiting", {}, stalled(8, true), Rest::memory},
      {"hardly any", {}, stalled(7, true), Rest::none},
      {"waiting does not matter", prefs_with("memory_stall", "0"), stalled(90),
       Rest::none},
      {"load is not looked at", {}, others_at(99), Rest::none},
      {"load not yet known", load, {}, Rest::none},
      {"load below the limit", load, others_at(39), Rest::none},
      {"load above the limit", load, others_at(41), Rest::load},
      {"falling, not yet enough", load, others_at(31, true), Rest::load},
      {"fallen to three quarters", load, others_at(30, true), Rest::none},
      {"rising again to where it rested", load, others_at(31), Rest::none},
      {"nobody is looked for", {}, typed_before(0), Rest::none},
      {"somebody typed lately", idle, typed_before(599), Rest::person},
      {"nobody typed for long enough", idle, typed_before(600), Rest::none},
      {"there is no terminal", idle, {}, Rest::none},
  };
  for (const Row& row : table) {
    CAPTURE(row.what);
    Permission permission = may_compute(row.prefs, row.conditions, kNow);
    CHECK(name_of(permission.rest) == name_of(row.rest));
    CHECK(permission.why.empty() == permission.is_granted());
  }
}

// A processor that changes by some degrees at once, on a block of metal that
// takes a minute; looked at every 2 seconds.
TEST_CASE("a limit of heat is kept, and work does not start and stop") {
  const Prefs prefs = prefs_with("max_celsius", "70");
  double block = 40;
  double hottest = 0;
  int switches = 0;
  int computed = 0;
  Conditions conditions;
  constexpr int kLooks = 1800;  // an hour
  for (int look = 0; look < kLooks; ++look) {
    const bool computes = conditions.last == Rest::none;
    block += ((computes ? 85 : 40) - block) * 2 / 60;
    conditions.celsius = block + (computes ? 8 : 0);
    hottest = std::max(hottest, *conditions.celsius);
    computed += computes ? 1 : 0;
    const Rest rest = may_compute(prefs, conditions, kNow).rest;
    conditions.since_last += Seconds(2);
    if (rest == conditions.last) continue;
    ++switches;
    conditions.last = rest;
    conditions.since_last = Seconds(0);
  }
  CHECK(hottest < 72);
  CHECK(switches < 2 * 60);
  CHECK(computed > kLooks / 4);
}

TEST_CASE("who finishes computes, takes nothing new, and rests as others do") {
  Conditions finishing;
  finishing.pause = Pause{.finishes = true};
  CHECK(may_compute({}, finishing, kNow).is_granted());
  CHECK_FALSE(may_compute({}, finishing, kNow).takes_new_work);
  CHECK(may_compute({}, {}, kNow).takes_new_work);
  finishing.is_on_battery = true;
  CHECK(may_compute({}, finishing, kNow).rest == Rest::battery);
  CHECK_FALSE(finished().is_granted());
}

TEST_CASE("the reason is told in figures") {
  Permission permission =
      may_compute(prefs_with("max_load", "40"), others_at(63.4), kNow);
  CHECK(permission.why ==
        "other programs keep 63 % of the cores busy, the limit is 40 %");
}

}  // namespace
}  // namespace quorate::client
