#include "client/permission/permission.h"

#include <fmt/format.h>

namespace quorate::client {
namespace {

constexpr double kResumeShare = 0.75;

bool is_too_loaded(const Prefs& prefs, const Conditions& conditions) {
  if (prefs.max_load == 0 || !conditions.others_percent) return false;
  double limit = prefs.max_load;
  if (conditions.rests_for_load) limit *= kResumeShare;
  return *conditions.others_percent > limit;
}

bool is_in_use(const Prefs& prefs, const Conditions& conditions) {
  return prefs.idle_minutes > 0 && conditions.since_typed &&
         *conditions.since_typed < Seconds(60.0 * prefs.idle_minutes);
}

}  // namespace

std::string_view name_of(Rest rest) {
  switch (rest) {
    case Rest::none:
      return "none";
    case Rest::paused:
      return "paused";
    case Rest::hours:
      return "hours";
    case Rest::battery:
      return "battery";
    case Rest::load:
      return "load";
    case Rest::person:
      return "person";
  }
  return "unknown";
}

Permission may_compute(const Prefs& prefs, const Conditions& conditions,
                       std::int64_t unix_ms) {
  if (conditions.pause) {
    return {Rest::paused, "paused " + pause_text(*conditions.pause, unix_ms)};
  }
  if (!is_within(parse_schedule(prefs.hours), week_time(unix_ms))) {
    return {Rest::hours, fmt::format("outside the hours {}", prefs.hours)};
  }
  if (!prefs.on_battery && conditions.is_on_battery) {
    return {Rest::battery, "on battery"};
  }
  if (is_too_loaded(prefs, conditions)) {
    return {Rest::load,
            fmt::format("other programs keep {:.0f} % of the cores busy, the "
                        "limit is {} %",
                        *conditions.others_percent, prefs.max_load)};
  }
  if (is_in_use(prefs, conditions)) {
    return {Rest::person,
            fmt::format("somebody typed within the last {} minutes",
                        prefs.idle_minutes)};
  }
  return {};
}

}  // namespace quorate::client
