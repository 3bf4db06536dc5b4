#include "server/orders/lists.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/row_filters.h"
#include "server/page/status.h"

namespace quorate {
namespace {

using nlohmann::json;

Page page_of(const json& arguments) {
  Page page;
  constexpr std::uint64_t kMost = 100'000;  // all rows are in memory at once
  page.limit = std::min(kMost, arguments.value("limit", page.limit));
  return page;
}

// Counting passes over all rows: not where these are all.
template <class Filter>
json with_total(ProjectState& state, const Filter& filter, const Page& page,
                json rows) {
  const std::uint64_t total =
      rows.size() < page.limit ? rows.size() : state.store.count(filter);
  return {{"rows", std::move(rows)}, {"total", total}};
}

}  // namespace

TrainingRun& run_of(ProjectState& state, const json& arguments) {
  std::string name = arguments.value("run", "");
  if (TrainingRun* training = state.run_by_name(name)) {
    return *training;
  }
  std::string known;
  for (const auto& [key, training] : state.runs) {
    known += (known.empty() ? "" : ", ") + training.run.name;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("there is no run \"{}\": {}", name,
                  known.empty() ? "create one with `quorate train create`"
                                : "known are " + known));
}

TrainingRun& run_of(Project& project, const json& arguments) {
  return run_of(project.state(), arguments);
}

json list_workunits(ProjectState& state, const json& arguments) {
  const WorkunitFilter filter = workunit_filter(state, arguments);
  const Page page = page_of(arguments);
  json rows = json::array();
  for (const Workunit& unit : state.store.workunits(filter, page)) {
    rows.push_back(status::workunit(state, unit));
  }
  return with_total(state, filter, page, std::move(rows));
}

json list_results(ProjectState& state, const json& arguments) {
  const ResultFilter filter = result_filter(state, arguments);
  const Page page = page_of(arguments);
  json rows = json::array();
  for (const Result& result : state.store.results(filter, page)) {
    json row = status::result(state, result);
    row["run"] = state.run(result.run).run.name;
    row["device"] = device_in(result.header.bytes);
    rows.push_back(std::move(row));
  }
  return with_total(state, filter, page, std::move(rows));
}

json list_snapshots(Project& project, const json& arguments) {
  json all = json::array();
  auto add = [&](const TrainingRun& training) {
    json rows = status::snapshots(training);
    std::reverse(rows.begin(), rows.end());  // of one time the later first
    for (json& row : rows) {
      row["run"] = training.run.name;
      all.push_back(std::move(row));
    }
  };
  if (arguments.contains("run")) {
    add(run_of(project, arguments));
  } else {
    for (const auto& [key, training] : project.state().runs) add(training);
  }
  return newest(std::move(all), "time", page_of(arguments).limit);
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
