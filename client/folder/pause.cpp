#include "client/folder/pause.h"

#include <charconv>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"
#include "client/folder/local_time.h"

namespace quorate::client {
namespace {

// A clock that is set a little is still the same clock.
constexpr std::int64_t kSlackMs = 60'000;
constexpr std::int64_t kShortMs = 600'000;
// Clients that do not know it pause at once.
constexpr const char* kFinish = "finish\n";

double seconds_of(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

[[noreturn]] void refuse_duration(std::string_view text) {
  throw Error(ErrorKind::usage,
              fmt::format("duration: expected something like 90s, 45m, 1h30m "
                          "or 1d, at most 30d, found \"{}\"",
                          text.substr(0, 40)));
}

// The number at the start of `text`, which is cut off; nullopt if it is none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

}  // namespace

Seconds parse_duration(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  Seconds duration{0};
  double last_unit = std::numeric_limits<double>::infinity();
  while (at != end) {
    std::uint32_t count = 0;
    auto [stop, failed] = std::from_chars(at, end, count);
    double unit = failed == std::errc{} && stop != end ? seconds_of(*stop) : 0;
    if (unit == 0 || unit >= last_unit) refuse_duration(text);
    last_unit = unit;
    duration += Seconds(count * unit);
    at = stop + 1;
  }
  if (duration <= Seconds(0) || duration > kLongestPause) refuse_duration(text);
  return duration;
}

bool holds(const Pause& pause, std::int64_t unix_ms) {
  if (pause.until == 0) return true;
  return unix_ms < pause.until && unix_ms + kSlackMs >= pause.since;
}

std::string write_pause(const Pause& pause) {
  if (pause.until == 0) return pause.finishes ? kFinish : "";
  return fmt::format("{} {}\n", pause.since, pause.until);
}

Pause parse_pause(std::string_view text) {
  if (text == kFinish) return {0, 0, true};
  auto since = take_number(text);
  auto until = take_number(text);
  if (!since || !until || *until <= *since || !text.empty()) return {};
  // One that is longer than can be asked for is none of ours.
  constexpr auto kLongestMs =
      static_cast<std::int64_t>(kLongestPause.count() * 1000);
  if (*until - *since > kLongestMs) return {};
  return {*since, *until};
}

std::string pause_text(const Pause& pause, std::int64_t unix_ms) {
  if (pause.until == 0) return "until resume";
  std::tm now = local_time(unix_ms);
  std::tm end = local_time(pause.until);
  bool is_today = now.tm_yday == end.tm_yday && now.tm_year == end.tm_year;
  // Of a short pause the seconds matter.
  if (pause.until - pause.since < kShortMs && is_today) {
    return "until " + clock_text(pause.until);
  }
  return is_today ? fmt::format("until {:%H:%M}", end)
                  : fmt::format("until {:%Y-%m-%d %H:%M}", end);
}

}  // namespace quorate::client
