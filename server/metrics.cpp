// Part of server/status: what monitors read.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/status.h"

namespace quorate::status {
namespace {

using nlohmann::json;

struct Metric {
  const char* name;
  const char* key;  // of summary() or run()
  const char* type;
  const char* help;
};

constexpr Metric kOfProject[] = {
    {"hosts_active", "hosts_active", "gauge",
     "Volunteers' hosts heard from lately."},
    {"results_in_progress", "results_in_progress", "gauge",
     "Results sent and not yet back."},
    {"results_waiting", "results_waiting", "gauge",
     "Results made and not yet sent."},
};

constexpr Metric kOfRuns[] = {
    {"run_version", "version", "gauge", "Version of the model."},
    {"run_accuracy", "accuracy", "gauge",
     "Accuracy of the last evaluated version."},
    {"run_loss", "loss", "gauge", "Loss of the last evaluated version."},
    {"results_assimilated_total", "results_assimilated", "counter",
     "Updates that became part of the model."},
    {"results_rejected_total", "results_rejected", "counter",
     "Results found invalid."},
};

std::string head(const Metric& metric) {
  return fmt::format("# HELP quorate_{0} {2}\n# TYPE quorate_{0} {1}\n",
                     metric.name, metric.type, metric.help);
}

}  // namespace

std::string metrics(ProjectState& state) {
  std::string text;
  json project = summary(state);
  for (const Metric& metric : kOfProject) {
    text += head(metric);
    text +=
        fmt::format("quorate_{} {}\n", metric.name, project[metric.key].dump());
  }
  std::vector<json> rows;
  for (const auto& [key, training] : state.runs) {
    rows.push_back(run(state, training));
  }
  for (const Metric& metric : kOfRuns) {
    text += head(metric);
    for (const json& row : rows) {
      const json& value = row[metric.key];
      if (value.is_null()) continue;
      text += fmt::format("quorate_{}{{run={}}} {}\n", metric.name,
                          row["run"].dump(), value.dump());
    }
  }
  return text;
}

}  // namespace quorate::status
