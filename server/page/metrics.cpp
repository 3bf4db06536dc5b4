// Part of server/page/status: what monitors read.
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "server/page/status.h"

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
     "Volunteers' hosts that were heard from lately."},
    {"results_in_progress", "results_in_progress", "gauge",
     "Results that were sent and have not come back yet."},
    {"results_waiting", "results_waiting", "gauge",
     "Results that were made but not sent yet."},
};

constexpr Metric kOfRuns[] = {
    {"run_version", "version", "gauge", "Version of the model."},
    {"run_accuracy", "accuracy", "gauge",
     "Accuracy of the last evaluated version."},
    {"run_loss", "loss", "gauge", "Loss of the last evaluated version."},
    {"results_assimilated_total", "results_assimilated", "counter",
     "Updates that became part of the model."},
    {"results_rejected_total", "results_rejected", "counter",
     "Results that were found invalid."},
};

std::string head(const Metric& metric) {
  return fmt::format("# HELP quorate_{0} {2}\n# TYPE quorate_{0} {1}\n",
                     metric.name, metric.type, metric.help);
}

// As the file deleter found it last: up to an hour ago.
std::string storage_metrics(ProjectState& state) {
  std::map<std::string, std::uint64_t> bytes;
  for (const StorageRow& row : state.storage) bytes[row.what] += row.bytes;
  constexpr Metric kBytes{"storage_bytes", "", "gauge",
                          "What the project's folder holds; tasks are part of "
                          "store."};
  std::string text = bytes.empty() ? "" : head(kBytes);
  for (const auto& [what, count] : bytes) {
    text +=
        fmt::format("quorate_{}{{what=\"{}\"}} {}\n", kBytes.name, what, count);
  }
  constexpr Metric kFree{"disk_free_bytes", "", "gauge",
                         "Free space on the project's disk."};
  return text + head(kFree) +
         fmt::format("quorate_{} {}\n", kFree.name,
                     free_space(state.folder.root));
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
                          dump_json(row["run"]), value.dump());
    }
  }
  return text + storage_metrics(state);
}

}  // namespace quorate::status
