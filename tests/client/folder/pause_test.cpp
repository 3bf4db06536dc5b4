#include "client/folder/pause.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kNow = 1'000'000 * kHour;

TEST_CASE("a duration is a number and a unit") {
  CHECK(parse_duration("90s") == Seconds(90));
  CHECK(parse_duration("45m") == Seconds(2700));
  CHECK(parse_duration("2h") == Seconds(7200));
  CHECK(parse_duration("30d") == kLongestPause);
  CHECK(parse_duration("1h30m") == Seconds(5400));
  CHECK(parse_duration("1d2h3m4s") == Seconds(93784));
  for (const char* text :
       {"", "2", "h", "0h", "-1h", "2 h", "2hh", "31d", "4294967296s", "1.5h",
        "2w", "30m1h", "1h2h", "1h30", "30d1s"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_duration(text),
                         doctest::Contains("expected something like"), Error);
  }
}

TEST_CASE("how long a pause holds, whatever the clock does") {
  Pause two_hours{kNow, kNow + 2 * kHour};
  struct Row {
    const char* what;
    Pause pause;
    std::int64_t now;
    bool holds;
  };
  const Row table[] = {
      {"at once", two_hours, kNow, true},
      {"just before its end", two_hours, kNow + 2 * kHour - 1, true},
      {"at its end", two_hours, kNow + 2 * kHour, false},
      {"the clock was corrected by a second", two_hours, kNow - 1000, true},
      {"the clock had been years ahead", two_hours, kNow - 9000 * kHour, false},
      {"the clock jumps ahead", two_hours, kNow + 9000 * kHour, false},
      {"until resume", Pause{}, kNow, true},
  };
  for (const Row& row : table) {
    CAPTURE(row.what);
    CHECK(holds(row.pause, row.now) == row.holds);
  }
}

TEST_CASE("a pause is read as it was written; else it is until resume") {
  Pause back = parse_pause(write_pause({kNow, kNow + kHour}));
  CHECK(back.since == kNow);
  CHECK(back.until == kNow + kHour);
  CHECK(parse_pause(write_pause({})).until == 0);
  CHECK_FALSE(parse_pause(write_pause({})).finishes);
  CHECK(parse_pause(write_pause({.finishes = true})).finishes);
  CHECK(holds(parse_pause(write_pause({.finishes = true})), kNow));
  CHECK_FALSE(parse_pause("finish?\n").finishes);
  for (const char* text :
       {"1", "1 ", "x 5", "5 1\n", "-1 5\n", "1 5 9\n", "1 99999999999999\n",
        "99999999999999999999 99999999999999999999\n"}) {
    CAPTURE(text);
    CHECK(parse_pause(text).until == 0);
  }
}

TEST_CASE("a pause says when it ends") {
  CHECK(pause_text({}, kNow) == "until resume");
  constexpr std::int64_t kMinute = 60'000;
  // Whichever zone this is, and however near midnight: one of both is today's.
  std::int64_t now = kNow;
  if (pause_text({now, now + kHour}, now).size() > 11) now += 2 * kHour;
  CHECK(pause_text({now, now + kHour}, now).size() ==
        std::string("until 14:05").size());
  CHECK(pause_text({now, now + kMinute}, now).size() ==
        std::string("until 14:05:30").size());
  CHECK(pause_text({kNow, kNow + 72 * kHour}, kNow).size() ==
        std::string("until 2026-11-21 14:05").size());
}

}  // namespace
}  // namespace quorate::client
