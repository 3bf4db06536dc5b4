#include "server/merging/assimilator.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/making/run_limits.h"
#include "server/making/work_generator.h"
#include "server/merging/step_files.h"
#include "server/objects/file_deleter.h"
#include "server/units/states.h"
#include "validator/quorum.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

// A run had as many open units as it may have, and fewer since some were
// validated: hosts may wait for that.
bool has_made_room(ProjectState& state, const TrainingRun& training) {
  const auto count = [&](WorkunitState of) {
    return state.feeder.units_in(training.run.key, of).size();
  };
  const std::size_t validated = count(WorkunitState::validated);
  return validated > 0 && count(WorkunitState::open) + validated >=
                              most_open_units(state.count_hosts().active);
}

}  // namespace

void Assimilator::pass_all() {
  for (auto& [key, training] : state_.runs) pass(training);
}

bool Assimilator::may_take(const TrainingRun& training) {
  return training.is_active() && !training.is_damaged && !training.is_revising;
}

void Assimilator::pass(TrainingRun& training, const PassLimit& limit) {
  if (!training.is_active()) return;
  count_time(training);
  if (!training.damage.empty()) {
    pause_for_damage(training, std::exchange(training.damage, {}));
  }
  pause_if_aborting(training);
  if (!may_take(training)) return;
  if (has_made_room(state_, training)) scheduler_.wake();
  try {
    take(training, limit);
    if (!limit.is_set()) mix_peers(training);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    pause_for_damage(training, error.what());
    return;
  }
  pause_if_diverged(training);
  publish_if_due(training);
  end_if_reached(training);
  finish_if_done(training);
  // The next epoch can begin.
  if (training.is_at_barrier() && !has_live_units(training)) scheduler_.wake();
}

// Time that a run is paused, or that no server runs, does not count.
void Assimilator::count_time(TrainingRun& training) {
  constexpr double kStoreEvery = 60;  // so much is lost when the process dies
  RunUsage& used = training.cursor.used;
  const bool is_at_work =
      training.run.state == RunState::running && used.host_seconds > 0;
  const Instant now = state_.clock.now();
  if (is_at_work && training.at_work_until) {
    used.seconds_at_work += (now - *training.at_work_until).count();
  }
  training.at_work_until.reset();
  if (is_at_work) training.at_work_until = now;
  if (used.seconds_at_work - training.seconds_stored < kStoreEvery) return;
  training.seconds_stored = used.seconds_at_work;
  state_.store.update_cursor(training.run.key, training.cursor);
}

void Assimilator::end_if_reached(TrainingRun& training) {
  const Run& run = training.run;
  if (run.state != RunState::running || run.until.is_empty()) return;
  const std::vector<Evaluation>& known = training.evaluations;
  if (training.end_reason.empty()) {
    training.end_reason =
        reason_to_end(run.until, training.cursor.used,
                      known.empty() ? nullptr : &known.back());
  }
  if (training.end_reason.empty() || !training.to_recheck.empty() ||
      !training.to_revoke.empty()) {
    return;
  }
  end(training, RunState::finished, training.end_reason);
}

void Assimilator::take(TrainingRun& training, const PassLimit& limit) {
  const bool is_in_line = is_helped(training);
  if (is_in_line && !limit.is_set()) return take_in_line(training);
  const ReadyUnits ready = ready_units(state_, training, limit);
  if (training.rule->in_rounds()) return take_round(training, ready);
  take_one_by_one(training, ready);
  // What was taken by hand is not overwritten by steps under way.
  if (is_in_line) lines_[training.run.key].protect(training.model.version());
}

std::vector<LiveUnit*> Assimilator::units_in(const TrainingRun& training,
                                             WorkunitState state) {
  std::vector<LiveUnit*> units;
  for (WorkunitId id : state_.feeder.units_in(training.run.key, state)) {
    units.push_back(state_.feeder.find(id));
  }
  return units;
}

std::size_t Assimilator::count_in(const TrainingRun& training,
                                  WorkunitState state) const {
  return state_.feeder.units_in(training.run.key, state).size();
}

void Assimilator::take_one_by_one(TrainingRun& training,
                                  const ReadyUnits& ready) {
  for (WorkunitId id : ready.units) {
    LiveUnit& live = *state_.feeder.find(id);
    assimilate(training, live, read_update(live), true);
    look_after(training, live);
  }
}

void Assimilator::look_after(const TrainingRun& training,
                             const LiveUnit& live) {
  transitioner_.look_at(live.unit.id);
  // Its replica is free for the next unit.
  if (training.rule->replicas() != 0) scheduler_.wake();
}

std::vector<LiveUnit*> Assimilator::open_units_of_round(
    const TrainingRun& training) {
  std::vector<LiveUnit*> open = units_in(training, WorkunitState::open);
  std::erase_if(open, [&](const LiveUnit* live) {
    return live->unit.round != training.cursor.round;
  });
  return open;
}

void Assimilator::take_round(TrainingRun& training, const ReadyUnits& ready) {
  if (!ready.closes_round) return;
  // A round is taken whole: damage must show before its first update is in.
  std::vector<ParameterValues> updates;
  updates.reserve(ready.units.size());
  for (WorkunitId id : ready.units) {
    updates.push_back(read_update(*state_.feeder.find(id)));
  }
  for (std::size_t i = 0; i < ready.units.size(); ++i) {
    const bool is_last = i + 1 == ready.units.size();
    assimilate(training, *state_.feeder.find(ready.units[i]),
               std::move(updates[i]), is_last);
  }
  std::vector<LiveUnit*> open = open_units_of_round(training);
  open_next_round(training);
  for (WorkunitId id : ready.units) transitioner_.look_at(id);
  for (LiveUnit* live : open) {
    transitioner_.close(live->unit.id, Closing::round_closed);
  }
}

void Assimilator::open_next_round(TrainingRun& training) {
  RunCursor& cursor = training.cursor;
  ++cursor.round;
  cursor.round_made = 0;
  cursor.round_units = 0;
  state_.store.update_cursor(training.run.key, cursor);
  scheduler_.wake();
}

ResultAssimilated Assimilator::new_entry(const TrainingRun& training,
                                         const ModelState& model,
                                         LiveUnit& live,
                                         bool makes_version) const {
  const Result& canonical = *live.find(live.unit.canonical_result);
  ResultAssimilated entry;
  entry.version_before = model.version();
  entry.version_after = entry.version_before + (makes_version ? 1 : 0);
  entry.unit_index = live.unit.unit_index;
  entry.workunit = live.unit.object;
  entry.base_version = live.unit.base_version;
  entry.staleness = entry.version_before - entry.base_version;
  entry.result = canonical.id;
  entry.host = state_.hosts.host(canonical.host)->key;
  entry.update = canonical.update;
  entry.claim = canonical.claim;
  entry.samples = live.unit.samples;
  entry.rule = training.rule->name();
  entry.basis = basis_of(live.unit, live.results);
  entry.coefficients = training.rule->coefficients(
      {.version = entry.version_before,
       .base_version = entry.base_version,
       .epoch = live.unit.epoch + 1,
       .steps = live.task->range.steps,
       .learning_rate = live.task->optimizer.learning_rate,
       .replica = live.task->replica.value_or(0),
       .seed = training.run.seed,
       .state = &model.rule_state()});
  return entry;
}

void Assimilator::assimilate(TrainingRun& training, LiveUnit& live,
                             ParameterValues update, bool makes_version) {
  ResultAssimilated entry =
      new_entry(training, training.model, live, makes_version);
  ParameterValues base;
  if (!training.rule->in_rounds()) base = read_base(live);
  training.model.apply(entry, *training.rule, base.all(), std::move(update));
  if (training.rule->exchanges_among_hosts()) {
    note_exchange(training, live, entry);
  }
  record(training, live, std::move(entry));
}

void Assimilator::note_exchange(TrainingRun& training, const LiveUnit& live,
                                const ResultAssimilated& entry) {
  const std::uint32_t met = peer_of(entry.coefficients).value();
  // Its next unit, which starts from this, is not made yet.
  if (!training.replicas.is_known(met)) {
    training.replicas.note(met, training.snapshot(state_.objects, met));
  }
  training.replicas.exchanged(replica_of(entry.coefficients).value(),
                              live.unit.snapshot, entry.update, met);
}

void Assimilator::record(TrainingRun& training, LiveUnit& live,
                         ResultAssimilated entry) {
  append(training, std::move(entry));
  set_state(live.unit, WorkunitState::assimilated, state_.clock.unix_ms());
  state_.feeder.save(live);
}

ParameterValues Assimilator::read_base(LiveUnit& live) {
  const StepFiles files = step_files_of(live);
  if (const auto small = recent_.read_small(files.snapshot)) {
    return read_parameters(files.task->model, *small, files.snapshot_text());
  }
  return map_base(state_.objects, files);
}

ParameterValues Assimilator::read_update(LiveUnit& live) {
  const StepFiles files = step_files_of(live);
  if (const auto small = recent_.read_small(files.update)) {
    return decode_update(*files.task, *small, files.update_text());
  }
  return map_update(state_.objects, files);
}

void Assimilator::append(TrainingRun& training, LedgerBody body) {
  LedgerEntry entry;
  entry.seq = training.next_seq;
  entry.previous = training.last_hash;
  entry.body = std::move(body);
  const LedgerRecord record = state_.notary->record(entry);
  state_.store.append_ledger(training.run.key, entry, record);
  training.next_seq = entry.seq + 1;
  training.last_hash = record.hash;
  if (!std::holds_alternative<ResultAssimilated>(entry.body)) {
    lines_[training.run.key].protect(training.model.version());
  }
}

void Assimilator::begin(TrainingRun& training, const LedgerEntry& created) {
  append(training, created.body);
}

void Assimilator::pause_if_diverged(TrainingRun& training) {
  if (training.run.state != RunState::running) return;
  // A diverged unit leaves the window when it is judged; its verdict stays.
  if (!training.divergence) return;
  if (is_looking_for_culprits(training)) return;
  pause(
      training,
      fmt::format("the training diverged in unit {}: stop this run and create "
                  "another with a lower --lr",
                  training.divergence->unit_index));
  training.divergence.reset();
}

void Assimilator::pause_if_aborting(TrainingRun& training) {
  if (training.run.state != RunState::running) return;
  const auto advice = training.aborts.advice(training.run.name);
  if (!advice) return;
  training.aborts = {};
  pause(training, *advice);
}

// A false update may be why: the last ones that nobody has confirmed are
// rechecked. If one is false, revoke() takes the divergence back, and the run
// goes on.
bool Assimilator::is_looking_for_culprits(TrainingRun& training) {
  constexpr std::uint64_t kMostSuspects = 64;
  const auto is_at_it = [&] {
    return !training.to_recheck.empty() || !training.to_revoke.empty();
  };
  if (training.divergence->is_looked_into || !state_.has_referee()) {
    return is_at_it();
  }
  training.divergence->is_looked_into = true;
  const WorkunitFilter suspects{.run = training.run.key,
                                .state = WorkunitState::assimilated,
                                .check = UnitCheck::none};
  for (const Workunit& unit :
       state_.store.workunits(suspects, {.limit = kMostSuspects})) {
    Consequences(state_).recheck(unit);
  }
  if (!is_at_it()) return false;
  state_.record(
      "divergence_examined", training.run.key, 0,
      fmt::format("the training diverged in unit {}: before the run "
                  "pauses for it, {} updates that nobody confirmed "
                  "are rechecked",
                  training.divergence->unit_index, training.to_recheck.size()));
  return true;
}

void Assimilator::pause_for_damage(TrainingRun& training,
                                   const std::string& what) {
  training.is_damaged = true;
  pause(training, fmt::format("{}, then `quorate train resume {}`", what,
                              training.run.name));
}

void Assimilator::pause(TrainingRun& training, const std::string& why) {
  Run& run = training.run;
  bool is_known = run.state == RunState::paused && run.state_reason == why;
  if (is_known) return;  // found again after a restart
  run.state = RunState::paused;
  run.state_reason = why;
  state_.store.update_run(run);
  state_.record("run_paused", run.key, 0, why);
  log_error("run_paused", {{"run", run.name}, {"why", why}});
}

bool Assimilator::has_live_units(const TrainingRun& training) {
  return count_in(training, WorkunitState::open) > 0 ||
         count_in(training, WorkunitState::validated) > 0;
}

void Assimilator::finish_if_done(TrainingRun& training) {
  if (training.run.state == RunState::running && training.is_handed_out() &&
      !has_live_units(training) && training.to_recheck.empty() &&
      training.to_revoke.empty()) {
    end(training, RunState::finished);
  }
}

void Assimilator::close_units(const TrainingRun& training, Closing why) {
  for (WorkunitState state : {WorkunitState::open, WorkunitState::validated}) {
    for (LiveUnit* live : units_in(training, state)) {
      transitioner_.close(live->unit.id, why);
    }
  }
}

void Assimilator::revoke(TrainingRun& training, Revoked entry,
                         ModelState rebuilt) {
  entry.version_before = training.model.version();
  entry.version_after = entry.version_before + 1;
  entry.parameters =
      parameter_parts(training.run.model, rebuilt.parameters()).hash();
  rebuilt.revoke(entry);
  training.model = std::move(rebuilt);
  training.divergence.reset();  // of the model as it was
  append(training, std::move(entry));
  close_units(training, Closing::branch_left);
  if (training.rule->in_rounds()) open_next_round(training);
  publish(training);
}

namespace {

// Results on any version, each for the model itself: such rules take each
// other's units.
bool takes_any_unit(const UpdateRule& rule) {
  return !rule.in_rounds() && rule.replicas() == 0;
}

}  // namespace

void Assimilator::change(TrainingRun& training, Run run,
                         std::unique_ptr<UpdateRule> rule) {
  if (!takes_any_unit(*training.rule) || !takes_any_unit(*rule)) {
    close_units(training, Closing::branch_left);
    open_next_round(training);
  }
  training.run = std::move(run);
  training.rule = std::move(rule);
  lines_[training.run.key].leave_all();  // steps of the rule before
  state_.store.update_run(training.run);
  // Whoever loads the run goes on from here, with this rule.
  publish(training);
}

void Assimilator::end(TrainingRun& training, RunState state,
                      const std::string& why) {
  lines_[training.run.key].leave_all();
  training.from_peers.clear();
  close_units(training, Closing::run_ended);
  publish(training);
  append(training,
         RunEnded{std::string(name_of(state)), training.model.version(),
                  training.snapshot(state_.objects), training.published_hash});
  training.run.state = state;
  if (!why.empty()) training.run.state_reason = why;
  training.run.ended = state_.clock.unix_ms();
  state_.store.update_run(training.run);
  state_.record(
      state == RunState::finished ? "run_finished" : "run_stopped",
      training.run.key, 0,
      fmt::format("run {} at version {}{}", training.run.name,
                  training.model.version(), why.empty() ? "" : ": " + why));
}

void Assimilator::publish_if_due(TrainingRun& training) {
  if (is_publish_due(training) && !is_stepping(training)) publish(training);
}

bool Assimilator::is_publish_due(const TrainingRun& training) const {
  std::uint64_t made = training.model.version() - training.published_version;
  if (made < state_.settings.evaluate_every_versions) return false;
  return !training.published_at ||
         state_.clock.now() - *training.published_at >=
             state_.settings.evaluate_every;
}

void Assimilator::publish(TrainingRun& training) {
  SnapshotPublished entry;
  entry.version = training.model.version();
  entry.parameters = training.snapshot(state_.objects);
  entry.published = state_.objects.put(
      parameter_parts(training.run.model, training.model.published()));
  if (!training.model.rule_state().empty()) {
    entry.rule_state =
        state_.objects.put(rule_state_parts(training.model.rule_state()));
  }
  append(training, entry);
  training.published_version = entry.version;
  training.published_at = state_.clock.now();
  training.published_hash = entry.published;
  // Versions may have the same bits.
  for (const Hash& named :
       {entry.parameters, entry.published, entry.rule_state}) {
    training.own_snapshots.erase(named);
  }
  if (auto right = right_to_remove(state_.folder)) {
    writer_.after_commit([this, right = std::move(*right),
                          old = take_old_snapshots(state_, training)] {
      for (const Hash& hash : old) state_.objects.remove_own(hash);
    });
  }
  EvaluationOrder order{training.run.key, entry.version, entry.published,
                        state_.store.totals(training.run.key).samples};
  writer_.after_commit([this, order] { evaluate_(order); });
}

void Assimilator::resume_evaluations() {
  for (auto& [key, training] : state_.runs) {
    std::vector<Evaluation> done = state_.store.evaluations(key);
    bool has_it =
        !done.empty() && done.back().version >= training.published_version;
    if (has_it || training.published_hash.is_zero()) continue;
    EvaluationOrder order{key, training.published_version,
                          training.published_hash,
                          state_.store.totals(key).samples};
    writer_.after_commit([this, order] { evaluate_(order); });
  }
}

}  // namespace quorate
