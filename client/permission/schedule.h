// The hours in which a machine may compute, as a person writes them:
//   22:00-07:00                       every day; past midnight is fine
//   mon-fri 22:00-07:00; sat,sun 00:00-24:00
// A day is the one on which the span begins. One that ends when it begins
// (22:00-22:00) is a whole day. "always", like nothing at all, is all week.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace quorate::client {

// A moment of the week in local time.
struct WeekTime {
  int day = 0;     // 0: Monday ... 6: Sunday
  int minute = 0;  // of the day, from 0 to 1439
};
// The local time of this machine at `unix_ms`.
WeekTime week_time(std::int64_t unix_ms);

struct Span {
  std::uint8_t days = 0;  // bit 0: Monday
  int from = 0;           // minute of the day, 0 to 1439
  int to = 0;             // 1 to 1440; not after `from`: of the next day
};
using Schedule = std::vector<Span>;  // empty: always

// Throws usage, naming the part that is wrong and what would be right.
Schedule parse_schedule(std::string_view text);
// True within one of the spans, and always for the empty schedule. Pure.
bool is_within(const Schedule& schedule, WeekTime now);

}  // namespace quorate::client
