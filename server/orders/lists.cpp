#include "server/orders/lists.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/page/status.h"

namespace quorate {
namespace {

using nlohmann::json;

Page page_of(const json& arguments) {
  Page page;
  page.limit = arguments.value("limit", page.limit);
  return page;
}

template <class RowsOf>
json for_runs(Project& project, const json& arguments, const char* order,
              RowsOf rows_of) {
  json all = json::array();
  auto add = [&](const TrainingRun& training) {
    for (json& row : rows_of(training)) {
      row["run"] = training.run.name;
      all.push_back(std::move(row));
    }
  };
  if (arguments.contains("run")) {
    add(run_of(project, arguments));
  } else {
    for (const auto& [key, training] : project.state().runs) add(training);
  }
  return newest(std::move(all), order, page_of(arguments).limit);
}

}  // namespace

TrainingRun& run_of(Project& project, const json& arguments) {
  std::string name = arguments.value("run", "");
  if (TrainingRun* training = project.state().run_by_name(name)) {
    return *training;
  }
  std::string known;
  for (const auto& [key, training] : project.state().runs) {
    known += (known.empty() ? "" : ", ") + training.run.name;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("there is no run \"{}\": {}", name,
                  known.empty() ? "create one with `quorate train create`"
                                : "known are " + known));
}

json list_workunits(Project& project, const json& arguments) {
  return for_runs(project, arguments, "id", [&](const TrainingRun& training) {
    return status::workunits(project.state(), training, page_of(arguments));
  });
}

json list_results(Project& project, const json& arguments) {
  auto rows_of =
      arguments.value("rejected", false) ? status::rejected : status::results;
  return for_runs(project, arguments, "id", [&](const TrainingRun& training) {
    return rows_of(project.state(), training, page_of(arguments));
  });
}

json list_snapshots(Project& project, const json& arguments) {
  return for_runs(project, arguments, "time", [](const TrainingRun& training) {
    json rows = status::snapshots(training);
    std::reverse(rows.begin(), rows.end());  // of one time the later first
    return rows;
  });
}

json newest(json rows, const std::string& key, std::uint64_t limit) {
  std::stable_sort(rows.begin(), rows.end(), [&](const json& a, const json& b) {
    return a[key].get<std::int64_t>() > b[key].get<std::int64_t>();
  });
  if (rows.size() > limit) {
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end());
  }
  return rows;
}

}  // namespace quorate
