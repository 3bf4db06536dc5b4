#include "client/permission/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "client/folder/local_time.h"

namespace quorate::client {
namespace {

constexpr std::size_t kMostSpans = 16;
constexpr int kDay = 24 * 60;
constexpr std::uint8_t kEveryDay = 0x7f;
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu",
                                                "fri", "sat", "sun"};

[[noreturn]] void refuse(std::string_view part) {
  throw Error(ErrorKind::usage,
              fmt::format("expected hours like 22:00-07:00 or \"mon-fri "
                          "22:00-07:00; sat,sun 00:00-24:00\", found \"{}\"",
                          part.substr(0, 40)));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Cuts off and returns what stands before the separator, or all of it.
std::string_view take_until(std::string_view& text, char separator) {
  std::string_view head = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), head.size() + 1));
  return head;
}

int parse_number(std::string_view digits, std::string_view part) {
  int value = 0;
  auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool is_whole = end == digits.data() + digits.size();
  if (digits.size() != 2 || failed != std::errc{} || !is_whole) refuse(part);
  return value;
}

// "07:30" in minutes, up to `most`.
int parse_time(std::string_view text, int most, std::string_view part) {
  if (text.size() != 5 || text[2] != ':') refuse(part);
  int hour = parse_number(text.substr(0, 2), part);
  int minute = parse_number(text.substr(3), part);
  if (hour < 0 || minute < 0 || minute > 59 || hour * 60 + minute > most) {
    refuse(part);
  }
  return hour * 60 + minute;
}

std::size_t parse_day(std::string_view name, std::string_view part) {
  const auto* found = std::find(kDays.begin(), kDays.end(), name);
  if (found == kDays.end()) refuse(part);
  return static_cast<std::size_t>(found - kDays.begin());
}

// "mon-fri,sun"; from a later to an earlier day goes over the week's end.
std::uint8_t parse_days(std::string_view text, std::string_view part) {
  unsigned days = 0;
  while (!text.empty()) {
    std::string_view last = take_until(text, ',');
    std::size_t day = parse_day(take_until(last, '-'), part);
    std::size_t end = last.empty() ? day : parse_day(last, part);
    while (day != end) {
      days |= 1U << day;
      day = (day + 1) % kDays.size();
    }
    days |= 1U << end;
  }
  return static_cast<std::uint8_t>(days);
}

Span parse_span(std::string_view part) {
  std::string_view hours = part;
  Span span;
  span.days = kEveryDay;
  if (std::size_t blank = part.find(' '); blank != std::string_view::npos) {
    span.days = parse_days(part.substr(0, blank), part);
    hours = trimmed(part.substr(blank));
  }
  std::string_view from = take_until(hours, '-');
  span.from = parse_time(from, kDay - 1, part);
  span.to = parse_time(hours, kDay, part);
  return span;
}

bool covers(const Span& span, WeekTime now) {
  auto begins_on = [&](int day) {
    return (span.days >> ((day + 7) % 7) & 1) != 0;
  };
  bool is_overnight = span.to <= span.from;
  if (!is_overnight) {
    return begins_on(now.day) && now.minute >= span.from &&
           now.minute < span.to;
  }
  return (begins_on(now.day) && now.minute >= span.from) ||
         (begins_on(now.day - 1) && now.minute < span.to);
}

}  // namespace

WeekTime week_time(std::int64_t unix_ms) {
  std::tm local = local_time(unix_ms);
  return {(local.tm_wday + 6) % 7, local.tm_hour * 60 + local.tm_min};
}

Schedule parse_schedule(std::string_view text) {
  Schedule schedule;
  std::string_view left = trimmed(text);
  if (left == "always") return {};
  while (!left.empty()) {
    std::string_view part = trimmed(take_until(left, ';'));
    if (schedule.size() == kMostSpans) refuse("more than 16 spans");
    schedule.push_back(parse_span(part));
  }
  return schedule;
}

bool is_within(const Schedule& schedule, WeekTime now) {
  return schedule.empty() ||
         std::any_of(schedule.begin(), schedule.end(),
                     [&](const Span& span) { return covers(span, now); });
}

}  // namespace quorate::client
