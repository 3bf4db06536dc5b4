#include "server/simulator/trace.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {
namespace {

const std::string kHead = "time_s,event,host,unit\n";

std::string refusal_of(const std::string& text) {
  try {
    parse_trace(text, "a.csv");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST_CASE("a course of events is read line by line") {
  const auto trace =
      parse_trace(kHead + "0,ask,laptop,0\n1.5,report,laptop,0\n", "a.csv");
  REQUIRE(trace.size() == 2);
  CHECK(trace[0].time == Seconds(0));
  CHECK_FALSE(trace[0].is_report);
  CHECK(trace[0].host == "laptop");
  CHECK(trace[1].time == Seconds(1.5));
  CHECK(trace[1].is_report);
  CHECK(trace[1].unit == 0);
  CHECK(parse_trace(kHead, "a.csv").empty());
  CHECK(parse_trace("time_s,event,host,unit\r\n1,ask,laptop,12\r\n", "a.csv")
            .at(0)
            .unit == 12);
}

TEST_CASE("what is no course of events is refused with place and line") {
  CHECK(refusal_of("") == "a.csv: line 1: expected \"time_s,event,host,unit\"");
  for (const char* line :
       {"x,ask,a,1", "1,asks,a,1", "1,ask,,1", "1,ask,a", "1,ask,a,-1",
        "1,ask,a,1,2", "-1,ask,a,1", "1e10,ask,a,1", "nan,ask,a,1", ""}) {
    CAPTURE(line);
    CHECK(refusal_of(kHead + "0,ask,a,0\n" + line + "\n")
              .starts_with("a.csv: line 3: expected seconds"));
  }
  CHECK(refusal_of(kHead + "2,ask,a,0\n1,ask,a,1\n") ==
        "a.csv: line 3: expected a time no earlier than on the line above");
}

}  // namespace
}  // namespace quorate
