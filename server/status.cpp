#include "server/status.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/evaluations.h"
#include "server/work_generator.h"

namespace quorate::status {
namespace {

using nlohmann::json;

json host_name(ProjectState& state, HostId id) {
  const Host* host = state.hosts.host(id);
  return host == nullptr ? json(nullptr) : json(host->name);
}

json run_name(ProjectState& state, RunKey key) {
  auto found = state.runs.find(key);
  return found == state.runs.end() ? json(nullptr)
                                   : json(found->second.run.name);
}

// The part of a run's samples that is handed out.
double progress(const TrainingRun& training) {
  auto all = static_cast<double>(
      steps_per_epoch(training.dataset.train, training.run.batch) *
      training.run.epochs);
  return all == 0 ? 1.0
                  : static_cast<double>(training.cursor.steps_before) / all;
}

json host_row(ProjectState& state, const Host& host) {
  bool is_house = host.user_id == kHouseUser;
  std::optional<Instant> heard = state.hosts.heard(host.id);
  bool is_active = heard && *heard >= state.clock.now() - state.settings.lease;
  const User* user = state.hosts.user(host.user_id);
  return {{"id", host.id},
          {"name", host.name},
          {"user", user ? user->name : ""},
          {"door", host.door},
          {"device", host.device},
          {"platform", host.platform},
          // Adaptive trust is not there yet: a volunteer's word counts in a
          // quorum only, a house worker's by itself.
          {"trust", is_house ? "house" : "quorum"},
          {"state", is_house ? "house" : "new"},
          {"active", is_house || is_active},
          {"valid", host.valid},
          {"invalid", host.invalid},
          {"errors", host.errors},
          {"credit", host.credit},
          {"in_progress", state.feeder.in_progress(host.id).size()},
          {"last_seen", host.last_seen}};
}

// A result before its unit's verdict is nobody's business but its host's.
bool is_public(const Result& result) {
  return result.validate_state != ValidateState::init;
}

json result_row(ProjectState& state, const Result& result) {
  json row = {{"id", result.id},
              {"workunit", result.workunit},
              {"host", result.host},
              {"host_name", host_name(state, result.host)},
              {"server_state", name_of(result.server_state)},
              {"outcome", name_of(result.outcome)},
              {"validate_state", name_of(result.validate_state)},
              {"credit", result.credit},
              {"reason", result.reason},
              {"sent", result.sent},
              {"received", result.received}};
  if (is_public(result)) row["claim"] = result.claim.hex();
  return row;
}

json evaluation_row(const Evaluation& evaluation) {
  return {{"version", evaluation.version},
          {"time", evaluation.time},
          {"samples", evaluation.samples},
          {"loss", evaluation.loss},
          {"accuracy", evaluation.accuracy}};
}

// At most about kCurvePoints of them, the last always among them: a page has
// not more pixels, and all of it is sent every second.
std::vector<Evaluation> thinned(const std::vector<Evaluation>& all) {
  constexpr std::size_t kCurvePoints = 500;
  std::size_t stride = all.size() / kCurvePoints + 1;
  std::vector<Evaluation> some;
  for (std::size_t i = (all.size() + stride - 1) % stride; i < all.size();
       i += stride) {
    some.push_back(all[i]);
  }
  return some;
}

}  // namespace

json summary(ProjectState& state) {
  std::size_t in_progress = 0;
  for (const auto& [id, host] : state.hosts.hosts()) {
    in_progress += state.feeder.in_progress(id).size();
  }
  constexpr Millis kMinute = 60'000;
  return {{"name", state.settings.name},
          {"runs", state.runs.size()},
          {"hosts_active", state.active_hosts().size()},
          {"results_in_progress", in_progress},
          {"results_waiting", state.feeder.unsent().size()},
          {"results_per_minute", state.store.results_received_since(
                                     state.clock.unix_ms() - kMinute)}};
}

json run(ProjectState& state, const TrainingRun& training) {
  const Run& run = training.run;
  RunTotals totals = state.store.totals(run.key);
  std::vector<Evaluation> evaluations = state.store.evaluations(run.key);
  std::optional<Evaluation> best = best_of(evaluations);
  json row = {{"run", run.name},
              {"id", run.id.hex()},
              {"state", name_of(run.state)},
              {"reason", run.state_reason},
              {"rule", run.rule},
              {"model", name_of(run.model)},
              {"dataset", run.dataset},
              {"quorum", run.quorum},
              {"epochs", run.epochs},
              {"epoch", training.cursor.epoch},
              {"progress", progress(training)},
              {"version", training.model.version()},
              {"results_assimilated", totals.results_assimilated},
              {"results_rejected", totals.results_rejected},
              {"results_valid", totals.results_valid},
              {"units_made", totals.units_made},
              {"units_closed", totals.units_closed},
              {"samples", totals.samples},
              {"created", run.created},
              {"ended", run.ended},
              {"evaluated_version", nullptr},
              {"published_version", training.published_version},
              {"loss", nullptr},
              {"accuracy", nullptr},
              {"best_accuracy", nullptr},
              {"best_version", nullptr}};
  if (best) {
    row["loss"] = evaluations.back().loss;
    row["accuracy"] = evaluations.back().accuracy;
    row["evaluated_version"] = evaluations.back().version;
    row["best_accuracy"] = best->accuracy;
    row["best_version"] = best->version;
  }
  return row;
}

json hosts(ProjectState& state) {
  json rows = json::array();
  for (const auto& [id, host] : state.hosts.hosts()) {
    rows.push_back(host_row(state, host));
  }
  return rows;
}

json workunits(ProjectState& state, const TrainingRun& training,
               const Page& page) {
  json rows = json::array();
  for (const Workunit& unit : state.store.workunits(training.run.key, page)) {
    rows.push_back({{"id", unit.id},
                    {"unit_index", unit.unit_index},
                    {"state", name_of(unit.state)},
                    {"base_version", unit.base_version},
                    {"epoch", unit.epoch},
                    {"round", unit.round},
                    {"samples", unit.samples},
                    {"min_quorum", unit.min_quorum},
                    {"canonical_result", unit.canonical_result},
                    {"object", unit.object.hex()},
                    {"created", unit.created}});
  }
  return rows;
}

json results(ProjectState& state, const TrainingRun& training,
             const Page& page) {
  json rows = json::array();
  for (const Result& result : state.store.results(training.run.key, page)) {
    rows.push_back(result_row(state, result));
  }
  return rows;
}

json snapshots(ProjectState& state, const TrainingRun& training) {
  json rows = json::array();
  for (const Evaluation& evaluation :
       state.store.evaluations(training.run.key)) {
    json row = evaluation_row(evaluation);
    row["object"] = evaluation.published.hex();
    rows.push_back(std::move(row));
  }
  return rows;
}

json rejected(ProjectState& state, const TrainingRun& training,
              const Page& page) {
  json rows = json::array();
  for (const Result& result :
       state.store.rejected_results(training.run.key, page)) {
    rows.push_back(result_row(state, result));
  }
  return rows;
}

json events(ProjectState& state, const Page& page) {
  json rows = json::array();
  for (const Event& event : state.store.events(page)) {
    rows.push_back({{"id", event.id},
                    {"time", event.time},
                    {"kind", event.kind},
                    {"run", run_name(state, event.run)},
                    {"host", host_name(state, event.host)},
                    {"text", event.text}});
  }
  return rows;
}

json everything(ProjectState& state) {
  constexpr std::uint64_t kRecent = 20;
  json runs = json::array();
  json rejections = json::array();
  for (const auto& [key, training] : state.runs) {
    json row = run(state, training);
    row["curve"] = json::array();
    for (const Evaluation& evaluation : thinned(state.store.evaluations(key))) {
      row["curve"].push_back(evaluation_row(evaluation));
    }
    row["rejected"] = rejected(state, training, {kRecent});
    runs.push_back(std::move(row));
  }
  return {{"time", state.clock.unix_ms()},
          {"fingerprint", fingerprint(state.keys.id)},
          {"url", state.settings.url},
          {"status", summary(state)},
          {"runs", std::move(runs)},
          {"hosts", hosts(state)},
          {"events", events(state, {kRecent})}};
}

std::string metrics(ProjectState& state) {
  std::string text;
  auto head = [&text](const char* name, const char* type, const char* help) {
    text += fmt::format("# HELP quorate_{0} {2}\n# TYPE quorate_{0} {1}\n",
                        name, type, help);
  };
  json now = summary(state);
  for (const auto& [name, help] :
       {std::pair{"hosts_active", "Volunteers' hosts heard from lately."},
        std::pair{"results_in_progress", "Results sent and not yet back."},
        std::pair{"results_waiting", "Results made and not yet sent."}}) {
    head(name, "gauge", help);
    text += fmt::format("quorate_{} {}\n", name, now[name].dump());
  }
  struct RunMetric {
    const char* name;
    const char* key;
    const char* type;
    const char* help;
  };
  for (const RunMetric& metric :
       {RunMetric{"run_version", "version", "gauge", "Version of the model."},
        RunMetric{"run_accuracy", "accuracy", "gauge",
                  "Accuracy of the last evaluated version."},
        RunMetric{"run_loss", "loss", "gauge",
                  "Loss of the last evaluated version."},
        RunMetric{"results_assimilated_total", "results_assimilated", "counter",
                  "Updates that became part of the model."},
        RunMetric{"results_rejected_total", "results_rejected", "counter",
                  "Results found invalid."}}) {
    head(metric.name, metric.type, metric.help);
    for (const auto& [key, training] : state.runs) {
      json value = run(state, training)[metric.key];
      if (value.is_null()) continue;
      text += fmt::format("quorate_{}{{run=\"{}\"}} {}\n", metric.name,
                          training.run.name, value.dump());
    }
  }
  return text;
}

}  // namespace quorate::status
