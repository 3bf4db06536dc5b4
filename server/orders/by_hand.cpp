#include "server/orders/by_hand.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/foresight.h"
#include "server/merging/ready_units.h"
#include "server/orders/lists.h"
#include "server/orders/named.h"

namespace quorate {
namespace {

using nlohmann::json;

json verdict_row(const ProjectState& state, const LiveUnit& live) {
  const Foresight foresight = foresee(state, live);
  const UnitDecision& decision = foresight.decision;
  const bool is_verdict = decision.step == UnitStep::accept;
  return {
      {"workunit", live.unit.id},
      {"run", state.runs.at(live.unit.run).run.name},
      {"unit_index", live.unit.unit_index},
      {"state", name_of(live.unit.state)},
      {"step", name_of(decision.step)},
      {"canonical",
       is_verdict ? json(decision.quorum.canonical) : json(nullptr)},
      {"valid", is_verdict ? json(decision.quorum.valid) : json::array()},
      {"invalid", is_verdict ? json(decision.quorum.invalid) : json::array()},
      {"may_be_checked", foresight.may_be_checked},
      {"says", sentence_of(foresight, live)}};
}

// A workunit that is over needs no look, one that never was is a mistake.
json preview_verdicts(ProjectState& state, const json& arguments) {
  json rows = json::array();
  if (!arguments.contains("workunit")) {
    for (const auto& [id, live] : state.feeder.units()) {
      rows.push_back(verdict_row(state, live));
    }
  } else {
    const auto id = arguments["workunit"].get<WorkunitId>();
    workunit_named(state, id);
    const LiveUnit* live = state.feeder.find(id);
    if (live != nullptr) rows.push_back(verdict_row(state, *live));
  }
  return {{"looked_at", rows.size()}, {"units", std::move(rows)}};
}

std::vector<TrainingRun*> runs_of(ProjectState& state, const json& arguments) {
  if (arguments.contains("run")) return {&run_of(state, arguments)};
  std::vector<TrainingRun*> runs;
  for (auto& [key, training] : state.runs) runs.push_back(&training);
  return runs;
}

// So that nobody waits for a pass that cannot take it.
TrainingRun& run_of_unit(ProjectState& state, WorkunitId id) {
  const Workunit unit = workunit_named(state, id);
  TrainingRun& training = state.run(unit.run);
  const std::vector<WorkunitId> ready = ready_units(state, training).units;
  if (std::find(ready.begin(), ready.end(), id) != ready.end()) return training;
  std::string why = fmt::format("it is {}", name_of(unit.state));
  if (unit.state == WorkunitState::validated) {
    why = why_nothing_is_ready(state, training);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("assimilate --up-to-unit {}: no pass takes it now: {}; "
                  "see `quorate workunit show {}`",
                  id, why, id));
}

struct Wish {
  std::vector<TrainingRun*> runs;
  PassLimit limit;
};

void expect_ahead(const TrainingRun& training, std::uint64_t version) {
  if (training.model.version() < version) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("assimilate --up-to {}: run {} is at version {} "
                  "already",
                  version, training.run.name, training.model.version()));
}

Wish wish_of(ProjectState& state, const json& arguments) {
  Wish wish;
  if (arguments.contains("up_to_unit")) {
    wish.limit.unit = arguments["up_to_unit"].get<WorkunitId>();
    wish.runs = {&run_of_unit(state, *wish.limit.unit)};
    return wish;
  }
  wish.runs = runs_of(state, arguments);
  if (!arguments.contains("up_to_version")) return wish;
  wish.limit.version = arguments["up_to_version"].get<std::uint64_t>();
  if (wish.runs.size() > 1) {
    throw Error(ErrorKind::usage,
                "assimilate --up-to VERSION: there are several runs: name one");
  }
  for (const TrainingRun* training : wish.runs) {
    expect_ahead(*training, *wish.limit.version);
  }
  return wish;
}

json planned_row(ProjectState& state, const PlannedUnit& planned) {
  const ResultAssimilated& entry = planned.entry;
  const Host* host = state.hosts.host_by_key(entry.host);
  json coefficients = json::object();
  for (const auto& [name, value] : entry.coefficients) {
    coefficients[name] = value;
  }
  return {{"workunit", planned.unit},
          {"unit_index", entry.unit_index},
          {"result", entry.result},
          {"host", host == nullptr ? 0 : host->id},
          {"host_name", host == nullptr ? json(nullptr) : json(host->name)},
          {"version_before", entry.version_before},
          {"version_after", entry.version_after},
          {"staleness", entry.staleness},
          {"samples", entry.samples},
          {"basis", entry.basis},
          {"rule", entry.rule},
          {"coefficients", std::move(coefficients)},
          {"update_norm", planned.update_norm},
          {"step_norm",
           planned.step_norm ? json(*planned.step_norm) : json(nullptr)}};
}

json preview_run(ProjectState& state, Daemons& daemons,
                 const TrainingRun& training, const PassLimit& limit) {
  json units = json::array();
  std::uint64_t version = training.model.version();
  for (const PlannedUnit& planned :
       daemons.assimilator.preview(training, limit)) {
    units.push_back(planned_row(state, planned));
    version = planned.entry.version_after;
  }
  return {{"version", version}, {"units", std::move(units)}};
}

}  // namespace

json validate_by_hand(ProjectState& state, Daemons& daemons,
                      const json& arguments) {
  if (arguments.value("dry_run", false)) {
    return preview_verdicts(state, arguments);
  }
  Transitioner& transitioner = daemons.transitioner;
  std::size_t looked_at = 1;
  if (arguments.contains("workunit")) {
    const auto id = arguments["workunit"].get<WorkunitId>();
    workunit_named(state, id);
    transitioner.look_at(id);
  } else {
    looked_at = state.feeder.units().size();
    transitioner.look_at_all();
  }
  transitioner.settle();
  json waiting = json::array();
  for (const auto& [id, live] : state.feeder.units()) {
    if (live.unit.state == WorkunitState::validated) waiting.push_back(id);
  }
  return {{"looked_at", looked_at}, {"waiting_for_assimilation", waiting}};
}

json assimilate_by_hand(ProjectState& state, Daemons& daemons,
                        const json& arguments) {
  const Wish wish = wish_of(state, arguments);
  json rows = json::array();
  for (TrainingRun* training : wish.runs) {
    json row = {{"run", training->run.name},
                {"version_before", training->model.version()},
                {"why_none", why_nothing_is_ready(state, *training)}};
    if (arguments.value("dry_run", false)) {
      row.update(preview_run(state, daemons, *training, wish.limit));
    } else {
      daemons.assimilator.pass(*training, wish.limit);
      row["version"] = training->model.version();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace quorate
