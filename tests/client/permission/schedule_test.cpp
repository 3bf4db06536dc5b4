#include "client/permission/schedule.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr int kMonday = 0;
constexpr int kFriday = 4;
constexpr int kSaturday = 5;
constexpr int kSunday = 6;

constexpr int at(int hour, int minute = 0) {
  return hour * 60 + minute;
}

TEST_CASE("when the hours allow work") {
  struct Row {
    const char* hours;
    WeekTime now;
    bool is_allowed;
  };
  const Row table[] = {
      {"", {kMonday, at(3)}, true},
      {"  ", {kMonday, at(3)}, true},
      {"always", {kMonday, at(3)}, true},
      {"09:00-17:00", {kMonday, at(8, 59)}, false},
      {"09:00-17:00", {kMonday, at(9)}, true},
      {"09:00-17:00", {kMonday, at(16, 59)}, true},
      {"09:00-17:00", {kMonday, at(17)}, false},
      {"00:00-24:00", {kSunday, at(23, 59)}, true},
      // past midnight
      {"22:00-07:00", {kMonday, at(23)}, true},
      {"22:00-07:00", {kMonday, at(6, 59)}, true},
      {"22:00-07:00", {kMonday, at(7)}, false},
      {"07:00-07:00", {kMonday, at(6)}, true},
      // the day is that of the beginning
      {"fri 22:00-07:00", {kFriday, at(23)}, true},
      {"fri 22:00-07:00", {kSaturday, at(6)}, true},
      {"fri 22:00-07:00", {kFriday, at(6)}, false},
      {"sun 22:00-07:00", {kMonday, at(6)}, true},
      {"mon-fri 09:00-10:00", {kFriday, at(9)}, true},
      {"mon-fri 09:00-10:00", {kSaturday, at(9)}, false},
      {"sat-mon 09:00-10:00", {kSunday, at(9)}, true},
      {"sat-mon 09:00-10:00", {kFriday, at(9)}, false},
      {"sat,sun 00:00-24:00; mon-fri 22:00-07:00", {kSaturday, at(12)}, true},
      {"sat,sun 00:00-24:00; mon-fri 22:00-07:00", {kFriday, at(12)}, false},
  };
  for (const Row& row : table) {
    CAPTURE(row.hours);
    CAPTURE(row.now.day);
    CAPTURE(row.now.minute);
    CHECK(is_within(parse_schedule(row.hours), row.now) == row.is_allowed);
  }
}

TEST_CASE("hours that are none are refused, naming them") {
  for (const char* text :
       {"never", "9:00-17:00", "09:00", "09:00-", "09:00-24:01", "24:00-08:00",
        "09:60-10:00", "09x00-10:00", "-1:00-10:00", "+1:00-10:00",
        "mo 09:00-17:00", "mon- 09:00", "mon,, 09:00-10:00",
        "09:00-10:00-11:00", ";", "09:00-10:00;;"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_schedule(text),
                         doctest::Contains("expected hours like"), Error);
  }
  std::string many;
  for (int i = 0; i < 17; ++i) many += "09:00-10:00;";
  CHECK_THROWS_AS(parse_schedule(many), Error);
}

TEST_CASE("local time has Monday first") {
  WeekTime now = week_time(1'700'000'000'000);  // 2023-11-14 22:13:20 UTC
  CHECK(now.day >= 1);  // Tuesday, or Wednesday far in the east
  CHECK(now.day <= 2);
  CHECK(now.minute % 15 == 13);  // zones differ by quarters of an hour
}

}  // namespace
}  // namespace quorate::client
