#include "client/permission/permission.h"

#include <fmt/format.h>

namespace quorate::client {
namespace {

// limit: percent, 0: any.
bool is_over(std::uint32_t limit, const std::optional<double>& percent,
             bool rests_for_it) {
  constexpr double kResumeShare = 0.75;
  if (limit == 0 || !percent) return false;
  return *percent > (rests_for_it ? kResumeShare : 1.0) * limit;
}

bool is_too_hot(const Prefs& prefs, const Conditions& conditions) {
  constexpr double kCooler = 7;
  constexpr Seconds kLeast{60};
  if (prefs.max_celsius == 0 || !conditions.celsius) return false;
  const double limit = prefs.max_celsius;
  if (conditions.last != Rest::heat) return *conditions.celsius >= limit;
  return conditions.since_last < kLeast ||
         *conditions.celsius > limit - kCooler;
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
    case Rest::heat:
      return "heat";
    case Rest::memory:
      return "memory";
    case Rest::load:
      return "load";
    case Rest::person:
      return "person";
  }
  return "unknown";
}

Permission finished() {
  return {Rest::paused, "finished; paused until resume", false};
}

Permission may_compute(const Prefs& prefs, const Conditions& conditions,
                       std::int64_t unix_ms) {
  if (conditions.pause && !conditions.pause->finishes) {
    return {Rest::paused, "paused " + pause_text(*conditions.pause, unix_ms)};
  }
  if (!is_within(parse_schedule(prefs.hours), week_time(unix_ms))) {
    return {Rest::hours, fmt::format("outside the hours {}", prefs.hours)};
  }
  if (!prefs.on_battery && conditions.is_on_battery) {
    return {Rest::battery, "on battery"};
  }
  if (is_too_hot(prefs, conditions)) {
    return {Rest::heat,
            fmt::format("processor or GPU has {:.0f} degrees, the limit is {}",
                        *conditions.celsius, prefs.max_celsius)};
  }
  if (is_over(prefs.memory_stall, conditions.memory_stall,
              conditions.last == Rest::memory)) {
    return {Rest::memory,
            fmt::format("programs wait for memory {:.0f} % of the time, the "
                        "limit is {} %",
                        *conditions.memory_stall, prefs.memory_stall)};
  }
  if (is_over(prefs.max_load, conditions.others_percent,
              conditions.last == Rest::load)) {
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
  return {Rest::none, "", !conditions.pause};
}

}  // namespace quorate::client
