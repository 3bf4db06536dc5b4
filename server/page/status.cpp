#include "server/page/status.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "server/making/evaluations.h"
#include "server/making/run_limits.h"
#include "server/making/work_generator.h"
#include "server/page/waiting.h"

namespace quorate::status {
namespace {

using nlohmann::json;

json host_name(ProjectState& state, HostId id) {
  const Host* host = state.hosts.host(id);
  return host == nullptr ? json(nullptr) : json(host->name);
}

json user_name(ProjectState& state, HostId id) {
  const Host* host = state.hosts.host(id);
  const User* user = host ? state.hosts.user(host->user_id) : nullptr;
  return user == nullptr ? json(nullptr) : json(user->name);
}

json run_name(ProjectState& state, RunKey key) {
  auto found = state.runs.find(key);
  return found == state.runs.end() ? json(nullptr)
                                   : json(found->second.run.name);
}

// The part that so many steps, of a batch each, are of a whole run.
double share_of_run(const TrainingRun& training, double steps) {
  auto all =
      static_cast<double>(steps_per_epoch(training.shards, training.run.batch) *
                          training.run.epochs);
  return all == 0 ? 1.0 : steps / all;
}

// The part of a run's samples that is handed out.
double progress(const TrainingRun& training) {
  return share_of_run(training,
                      static_cast<double>(training.cursor.steps_before));
}

// The part of them that is in the model.
double done(const TrainingRun& training, std::uint64_t samples) {
  return share_of_run(training, static_cast<double>(samples) /
                                    static_cast<double>(training.run.batch));
}

// In the model, though nobody recomputed them: how many, and the first few.
void add_unverified(ProjectState& state, RunKey run, json& row) {
  constexpr std::size_t kMostNamed = 20;
  const auto units = state.store.workunits_unverified(run);
  row["unverified"] = units.size();
  row["unverified_results"] = json::array();
  for (const Workunit& unit : units) {
    if (row["unverified_results"].size() == kMostNamed) break;
    row["unverified_results"].push_back(unit.canonical_result);
  }
}

// What the run takes of hosts' time, and when that is enough.
void add_sharing(ProjectState& state, const TrainingRun& training, json& row) {
  const Run& run = training.run;
  const RunUsage& used = training.cursor.used;
  const std::optional<double> part = state.activity.part_of_hosts(run.key);
  row["share"] = run.share;
  constexpr double kThousand = 1000;
  row["hosts_part"] =
      part ? json(std::round(kThousand * *part) / kThousand) : json(nullptr);
  row["seconds_at_work"] = used.seconds_at_work;
  row["host_seconds"] = used.host_seconds;
  row["cost"] = used.cost;
  if (!run.until.is_empty()) row["until"] = text_of(run.until);
}

// A result before its unit's verdict is nobody's business but its host's.
bool is_public(const Result& result) {
  return result.validate_state != ValidateState::init &&
         result.validate_state != ValidateState::inconclusive;
}

}  // namespace

json summary(ProjectState& state) {
  return {{"name", state.settings.name},
          {"runs", state.runs.size()},
          {"hosts_active", state.active_hosts().size()},
          {"results_in_progress", state.feeder.in_progress_count()},
          {"results_waiting", state.feeder.unsent().size()},
          {"results_per_minute", state.activity.results_per_minute()},
          {"roles_off", roles_off(state.roles)}};
}

json run(ProjectState& state, const TrainingRun& training) {
  const Run& run = training.run;
  RunTotals totals = state.store.totals(run.key);
  const std::vector<Evaluation>& evaluations = training.evaluations;
  std::optional<Evaluation> best = best_of(evaluations);
  std::string waits = run.state == RunState::running
                          ? why_it_waits(waiting_run(state, training))
                          : "";
  json row = {{"run", run.name},
              {"id", run.id.hex()},
              {"state", name_of(run.state)},
              {"reason", run.state_reason},
              {"waits", waits},
              {"rule", run.rule},
              {"model", title_of(run.model)},
              {"dataset", run.dataset},
              {"quorum", run.quorum},
              {"epochs", run.epochs},
              {"epoch", training.cursor.epoch},
              {"progress", progress(training)},
              {"done", done(training, totals.samples)},
              {"version", training.model.version()},
              {"results_assimilated", totals.results_assimilated},
              {"results_rejected", totals.results_rejected},
              {"results_valid", totals.results_valid},
              {"units_made", totals.units_made},
              {"units_closed", totals.units_closed},
              {"samples", totals.samples},
              {"created", run.created},
              {"ended", run.ended},
              {"updates_removed", run.updates_removed},
              {"evaluated_version", nullptr},
              {"published_version", training.published_version},
              {"loss", nullptr},
              {"accuracy", nullptr},
              {"best_accuracy", nullptr},
              {"best_version", nullptr}};
  add_sharing(state, training, row);
  add_unverified(state, run.key, row);
  if (best) {
    row["loss"] = evaluations.back().loss;
    row["accuracy"] = evaluations.back().accuracy;
    row["evaluated_version"] = evaluations.back().version;
    row["best_accuracy"] = best->accuracy;
    row["best_version"] = best->version;
  }
  return row;
}

json settings(const Run& run) {
  json row = {{"seed", run.seed},
              {"batch", run.batch},
              {"micro_batch", run.micro_batch},
              {"local_steps", run.local_steps},
              {"learning_rate", run.optimizer.learning_rate},
              {"optimizer", name_of(run.optimizer.kind)},
              {"momentum", run.optimizer.momentum},
              {"beta1", run.optimizer.beta1},
              {"beta2", run.optimizer.beta2},
              {"epsilon", run.optimizer.epsilon},
              {"clip_norm", run.optimizer.clip_norm},
              {"weight_decay", run.optimizer.weight_decay},
              {"lr_schedule", run.lr_schedule},
              {"codec", name_of(run.codec)},
              {"rule_settings", run.rule_settings},
              {"round_units", run.round_units},
              {"round_share", run.round_share},
              {"parameters", parameter_count(run.model)}};
  if (run.epoch_barrier) row["epoch_barrier"] = true;
  if (run.assimilators != 1) {
    row["assimilators"] = run.assimilators;
    row["consistency"] = name_of(run.consistency);
  }
  return row;
}

json host(ProjectState& state, const Host& host) {
  bool is_house = host.user_id == kHouseUser;
  const User* user = state.hosts.user(host.user_id);
  return {{"id", host.id},
          {"name", host.name},
          {"key", host.key.hex()},
          {"user", user ? user->name : ""},
          {"door", host.door},
          {"device", host.device},
          {"platform", host.platform},
          {"speed_flops", host.speed_flops},
          // Units of its best device that somebody trusted computed too.
          {"trust", state.trust.validated(host.id)},
          {"state", is_house ? "house" : name_of(state.trust.standing(host))},
          {"reason", host.mark_reason},
          {"false_results", host.false_results},
          {"active", is_house || state.is_active(host.id)},
          {"valid", host.valid},
          {"invalid", host.invalid},
          {"errors", host.errors},
          {"credit", host.credit},
          {"in_progress", state.feeder.in_progress(host.id).size()},
          {"last_seen", host.last_seen}};
}

json hosts(ProjectState& state) {
  json rows = json::array();
  for (const auto& [id, host] : state.hosts.hosts()) {
    rows.push_back(status::host(state, host));
  }
  return rows;
}

json user(ProjectState& state, const User& user) {
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  Millis last_seen = 0;
  for (HostId id : state.hosts.hosts_of(user.id)) {
    const Host& host = *state.hosts.host(id);
    valid += host.valid;
    invalid += host.invalid;
    last_seen = std::max(last_seen, host.last_seen);
  }
  return {{"id", user.id},
          {"name", user.name},
          {"key", user.key.hex()},
          {"hosts", state.hosts.hosts_of(user.id).size()},
          {"valid", valid},
          {"invalid", invalid},
          {"credit", user.credit},
          {"created", user.created},
          {"last_seen", last_seen},
          {"state", user.deleted != 0         ? "deleted"
                    : user.ban_reason.empty() ? "member"
                                              : "banned"},
          {"ban_reason", user.ban_reason}};
}

json workunit(ProjectState& state, const Workunit& unit) {
  return {{"id", unit.id},
          {"run", run_name(state, unit.run)},
          {"unit_index", unit.unit_index},
          {"state", name_of(unit.state)},
          {"check", name_of(unit.check)},
          {"base_version", unit.base_version},
          {"epoch", unit.epoch},
          {"round", unit.round},
          {"samples", unit.samples},
          {"min_quorum", unit.min_quorum},
          {"canonical_result", unit.canonical_result},
          {"object", unit.object.hex()},
          {"created", unit.created}};
}

json result(ProjectState& state, const Result& result) {
  json row = {{"id", result.id},
              {"workunit", result.workunit},
              {"host", result.host},
              {"host_name", host_name(state, result.host)},
              {"user", user_name(state, result.host)},
              {"server_state", name_of(result.server_state)},
              {"outcome", name_of(result.outcome)},
              {"validate_state", name_of(result.validate_state)},
              {"witness", result.is_witness},
              {"credit", result.credit},
              {"reason", result.reason},
              {"sent", result.sent},
              {"received", result.received}};
  if (is_public(result)) row["claim"] = result.claim.hex();
  return row;
}

json evaluation(const Evaluation& row) {
  return {{"version", row.version},
          {"time", row.time},
          {"samples", row.samples},
          {"loss", row.loss},
          {"accuracy", row.accuracy}};
}

json snapshots(const TrainingRun& training) {
  json rows = json::array();
  for (const Evaluation& one : training.evaluations) {
    json row = evaluation(one);
    row["object"] = one.published.hex();
    rows.push_back(std::move(row));
  }
  return rows;
}

json rejected(ProjectState& state, const TrainingRun& training,
              const Page& page) {
  json rows = json::array();
  for (const Result& result :
       state.store.rejected_results(training.run.key, page)) {
    rows.push_back(status::result(state, result));
  }
  return rows;
}

json event(ProjectState& state, const Event& row) {
  return {{"id", row.id},
          {"time", row.time},
          {"kind", row.kind},
          {"run", run_name(state, row.run)},
          {"host", host_name(state, row.host)},
          {"user", user_name(state, row.host)},
          {"text", row.text}};
}

json events(ProjectState& state, const Page& page) {
  json rows = json::array();
  for (const Event& one : state.store.events(page)) {
    rows.push_back(event(state, one));
  }
  return rows;
}

}  // namespace quorate::status
