#include "server/settings/duration.h"

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("times are read as people write them") {
  CHECK(parse_duration("90 s") == Seconds(90));
  CHECK(parse_duration("15min") == Seconds(900));
  CHECK(parse_duration("15m") == Seconds(900));
  CHECK(parse_duration("1.5 h") == Seconds(5400));
  CHECK(parse_duration("2d") == Seconds(172'800));
  CHECK(parse_duration("200 ms") == Seconds(0.2));
  for (const char* wrong : {"", "h", "6", "6 hours", "-1 s", "inf d", "nan s",
                            "1e9 d", "6h ", " 6h", "6h6"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).has_value());
  }
}

TEST_CASE("times are told in the largest unit that they fill") {
  CHECK(duration_text(Seconds(21'600)) == "6h");
  CHECK(duration_text(Seconds(129'600)) == "1.5d");
  CHECK(duration_text(Seconds(90)) == "1.5min");
  CHECK(duration_text(Seconds(0.2)) == "200ms");
  CHECK(duration_text(Seconds(0)) == "0s");
}

}  // namespace quorate
