#include "server/simulator/recording.h"

#include <doctest/doctest.h>

#include "server/simulator/report_page.h"

namespace quorate {
namespace {

Recording recording() {
  Recording made;
  Moment moment;
  moment.time = Seconds(1.5);
  moment.hosts = 3;
  moment.version = 4;
  moment.assimilated = 5;
  moment.samples = 640;
  moment.open_units = 2;
  moment.counters.requests = 11;
  moment.counters.bytes_up = 7000;
  moment.counters.cost = 0.25;
  made.moments.push_back(moment);
  made.scores.push_back({moment, 0.75, 0.5});
  return made;
}

constexpr const char* kHead =
    "time_s,hosts,version,results,samples,open_units,requests,assignments,"
    "reports,refused,given_up,machines_lost,bytes_down,bytes_up,computing_s,"
    "present_s,cost";
constexpr const char* kRow =
    "1.500,3,4,5,640,2,11,0,0,0,0,0,0,7000,0.000,0.000,0.250000";

TEST_CASE("a recording is written as tables") {
  CHECK(moments_csv(recording()) == std::string(kHead) + "\n" + kRow + "\n");
  CHECK(scores_csv(recording()) ==
        std::string(kHead) + ",loss,accuracy\n" + kRow + ",0.75,0.5\n");
}

TEST_CASE("the page has its data in it, and loads nothing") {
  const nlohmann::json scenario = {{"name", "</script><b>"}};
  const nlohmann::json summary = {{"name", "night"}};
  const std::string page = report_page(scenario, summary, recording());
  CHECK(page.find("\"night\"") != std::string::npos);
  CHECK(page.find("\"accuracy\":0.5") != std::string::npos);
  // A text of the scenario cannot end the script that it stands in.
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("\\u003c/script>\\u003cb>") != std::string::npos);
  for (const char* mark : {"@STYLE@", "@DATA@", "@CHART_JS@", "@REPORT_JS@",
                           " src=", "<link", "@import"}) {
    CAPTURE(mark);
    CHECK(page.find(mark) == std::string::npos);
  }
}

}  // namespace
}  // namespace quorate
