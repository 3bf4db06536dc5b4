#include "server/simulator/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/simulator/report_page.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

json target_of(Simulation& simulation) {
  const auto target = simulation.target();
  if (!target) return nullptr;
  const Moment& moment = target->moment;
  return {{"seconds", moment.time.count()},
          {"samples", moment.samples},
          {"results", moment.assimilated},
          {"bytes_up", moment.counters.bytes_up},
          {"bytes_down", moment.counters.bytes_down},
          {"cost", moment.counters.cost}};
}

double best_accuracy(const Recording& recording) {
  double best = 0;
  for (const PublishedScore& score : recording.scores) {
    best = std::max(best, score.accuracy);
  }
  return best;
}

// The share of the time of the workers that were there.
double utilisation(const Scenario& scenario, const Counters& counters) {
  double workers = 0;
  double hosts = 0;
  for (const HostClass& kind : scenario.hosts) {
    hosts += kind.count;
    workers += double{1} * kind.count * kind.workers;
  }
  const Seconds time = counters.present * (hosts == 0 ? 0 : workers / hosts);
  return time == Seconds(0) ? 0 : counters.computing / time;
}

// One row for each run: what it was to get, what it got.
json runs_of(Simulation& simulation) {
  ProjectState& state = simulation.project().state();
  json rows = json::array();
  for (const auto& [key, training] : state.runs) {
    const RunUsage& used = training.cursor.used;
    json row = {
        {"run", training.run.name},
        {"share", training.run.share},
        {"state", name_of(training.run.state)},
        {"why", training.run.state_reason},
        {"version", training.model.version()},
        {"host_seconds", used.host_seconds},
        {"computing_seconds", simulation.machines().computing(key).count()},
        {"seconds_at_work", used.seconds_at_work},
        {"cost", used.cost}};
    if (!training.evaluations.empty()) {
      row["accuracy"] = training.evaluations.back().accuracy;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Of assimilators that take time.
void put_assimilators(json& summary, const Scenario& scenario,
                      Simulation& simulation) {
  if (!scenario.assimilator.any()) return;
  const SimulatedAssimilators& assimilators = simulation.assimilators();
  const auto updates = static_cast<double>(assimilators.updates());
  summary["overwritten"] = simulation.run().overwritten;
  summary["seconds_per_update"] =
      updates == 0 ? json(nullptr)
                   : json(assimilators.busy().count() / updates);
}

}  // namespace

json summary_of(const Scenario& scenario, Simulation& simulation) {
  const Moment end = simulation.moment();
  const Counters& counters = end.counters;
  const Recording& recording = simulation.recording();
  const TrainingRun& training = simulation.run();
  const RunTotals totals =
      simulation.project().store().totals(training.run.key);
  json summary = {
      {"name", scenario.name},
      {"seed", scenario.seed},
      {"rule", training.run.rule},
      {"state", name_of(training.run.state)},
      {"why", training.run.state_reason},
      {"seconds", end.time.count()},
      {"version", end.version},
      {"results_assimilated", end.assimilated},
      {"results_rejected", totals.results_rejected},
      {"samples", end.samples},
      {"requests", counters.requests},
      {"assignments", counters.assignments},
      {"reports", counters.reports},
      {"refused", counters.refused},
      {"given_up", counters.given_up},
      {"machines_lost", counters.machines_lost},
      {"bytes_up", counters.bytes_up},
      {"bytes_down", counters.bytes_down},
      {"utilisation", utilisation(scenario, counters)},
      {"busy", simulation.busy()},
      {"cost", counters.cost},
      {"target", target_of(simulation)},
      {"runs", runs_of(simulation)},
      {"parameters",
       sha256(write_parameters(training.run.model, training.model.parameters()))
           .hex()}};
  put_assimilators(summary, scenario, simulation);
  if (!recording.scores.empty()) {
    summary["accuracy"] = recording.scores.back().accuracy;
    summary["best_accuracy"] = best_accuracy(recording);
    summary["loss"] = recording.scores.back().loss;
  }
  return summary;
}

std::string text_of(const json& summary) {
  std::string text = fmt::format(
      "{}: run {} after {:.2f} h on the virtual clock ({:.1f} s on yours)\n"
      "  {} results of {} reported, {} rejected, version {}\n",
      summary["name"].get<std::string>(), summary["state"].get<std::string>(),
      summary["seconds"].get<double>() / 3600,
      summary["wall_seconds"].get<double>(),
      summary["results_assimilated"].get<std::uint64_t>(),
      summary["reports"].get<std::uint64_t>(),
      summary["results_rejected"].get<std::uint64_t>(),
      summary["version"].get<std::uint64_t>());
  if (summary.contains("accuracy")) {
    text += fmt::format("  accuracy {:.2f} %, best {:.2f} %\n",
                        100 * summary["accuracy"].get<double>(),
                        100 * summary["best_accuracy"].get<double>());
  }
  if (!summary["target"].is_null()) {
    text += fmt::format("  the target was reached after {:.2f} h\n",
                        summary["target"]["seconds"].get<double>() / 3600);
  }
  const std::string why = summary["why"].get<std::string>();
  if (!why.empty()) text += fmt::format("  {}\n", why);
  return text + fmt::format("  tables and report.html: {}",
                            summary["results"].get<std::string>());
}

void write_results(const fs::path& folder, const Scenario& scenario,
                   const Recording& recording, const json& summary) {
  write_file_durably(folder / "summary.json", as_bytes(summary.dump(2) + "\n"));
  write_file_durably(folder / "timeline.csv", as_bytes(moments_csv(recording)));
  write_file_durably(folder / "versions.csv", as_bytes(scores_csv(recording)));
  write_file_durably(
      folder / "report.html",
      as_bytes(report_page(scenario.source, summary, recording)));
}

}  // namespace quorate
