#include "client/permission/permission.h"

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
  conditions.rests_for_load = rests_for_load;
  return conditions;
}

Conditions typed_before(double seconds) {
  Conditions conditions;
  conditions.since_typed = Seconds(seconds);
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
  const Row table[] = {
      {"nothing in the way", {}, {}, Rest::none},
      {"a person's word comes first", {}, paused(), Rest::paused},
      {"outside of the hours", outside_of_hours(), {}, Rest::hours},
      {"on battery", {}, on_battery(), Rest::battery},
      {"on battery, allowed", prefs_with("on_battery", "yes"), on_battery(),
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

TEST_CASE("the reason is told in figures") {
  Permission permission =
      may_compute(prefs_with("max_load", "40"), others_at(63.4), kNow);
  CHECK(permission.why ==
        "other programs keep 63 % of the cores busy, the limit is 40 %");
}

}  // namespace
}  // namespace quorate::client
