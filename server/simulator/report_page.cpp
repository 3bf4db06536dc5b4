#include "server/simulator/report_page.h"

#include <string_view>

#include "server/simulator/embedded.h"

namespace quorate {
namespace {

using nlohmann::json;

json row(const Moment& moment) {
  const Counters& counters = moment.counters;
  return {{"time_s", moment.time.count()},
          {"hosts", moment.hosts},
          {"version", moment.version},
          {"results", moment.assimilated},
          {"samples", moment.samples},
          {"requests", counters.requests},
          {"machines_lost", counters.machines_lost},
          {"bytes_up", counters.bytes_up},
          {"bytes_down", counters.bytes_down},
          {"cost", counters.cost}};
}

json rows(const Recording& recording) {
  json timeline = json::array();
  for (const Moment& moment : recording.moments) {
    timeline.push_back(row(moment));
  }
  json versions = json::array();
  for (const PublishedScore& score : recording.scores) {
    versions.push_back(row(score.moment));
    versions.back()["loss"] = score.loss;
    versions.back()["accuracy"] = score.accuracy;
  }
  return {{"timeline", timeline}, {"versions", versions}};
}

// A text in the page must not end the script that it stands in.
std::string in_script(const json& value) {
  std::string text;
  for (char c : value.dump()) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string report_page(const json& scenario, const json& summary,
                        const Recording& recording) {
  json data = rows(recording);
  data["scenario"] = scenario;
  data["summary"] = summary;
  std::string page;
  std::string_view rest = embedded::report_html;
  auto fill = [&](std::string_view mark, std::string_view with) {
    const std::size_t at = rest.find(mark);
    page.append(rest.substr(0, at)).append(with);
    rest.remove_prefix(at + mark.size());
  };
  fill("@STYLE@", embedded::report_style_css);
  fill("@DATA@", in_script(data));
  fill("@CHART_JS@", embedded::report_chart_js);
  fill("@REPORT_JS@", embedded::report_js);
  return page.append(rest);
}

}  // namespace quorate
