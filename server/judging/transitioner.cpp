#include "server/judging/transitioner.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "server/judging/unit_facts.h"
#include "server/units/sealed_tasks.h"
#include "server/units/states.h"

namespace quorate {
namespace {

// Hosts may fail on purpose, and hashing a large model takes a second: looking
// takes at most a tenth of the time.
constexpr double kLookShare = 0.1;

// How many times as long as usual. A slow machine that has brought what it took
// will do so again: computing that twice would be a waste.
double patience_with(const Host& host) {
  constexpr double kStranger = 3;
  constexpr double kKnown = 6;
  constexpr std::uint64_t kForEachError = 3;
  return host.valid > kForEachError * (host.errors + 1) ? kKnown : kStranger;
}

}  // namespace

void Transitioner::on_reported(WorkunitId unit) {
  if (is_validating_) look_at(unit);
}

void Transitioner::look_at_all() {
  for (const auto& [id, live] : state_.feeder.units()) look_at(id);
}

void Transitioner::on_failed(HostId host, ResultId id, const std::string& why) {
  LiveUnit* live = state_.feeder.find_by_result(id);
  Result* result = live ? live->find(id) : nullptr;
  if (result == nullptr || result->host != host ||
      result->server_state != ServerState::in_progress) {
    return;
  }
  take_back(*result, ResultOutcome::client_error, why);
  state_.record(
      "result_failed", live->unit.run, host,
      fmt::format("result {} of unit {}: {}", id, live->unit.unit_index, why));
  state_.rests.failed(host, state_.clock.now());
  look_for_damage(*live);
  look_at(live->unit.id);
}

void Transitioner::on_house_aborted(ResultId id, const std::string& why) {
  if (const LiveUnit* live = state_.feeder.find_by_result(id)) {
    state_.run(live->unit.run).aborts.add(live->unit.unit_index, why);
  }
  on_failed(state_.house_host, id, why);
}

void Transitioner::forgive(const TrainingRun& training) {
  for (WorkunitId id :
       state_.feeder.units_in(training.run.key, WorkunitState::open)) {
    LiveUnit& live = *state_.feeder.find(id);
    for (Result& result : live.results) {
      if (result.outcome != ResultOutcome::client_error) continue;
      mark_forgiven(result, "an object of the project was damaged");
      state_.feeder.save(result);
      state_.rests.succeeded(result.host);
    }
    look_at(id);
  }
}

void Transitioner::look_for_damage(const LiveUnit& live) {
  TrainingRun& training = state_.run(live.unit.run);
  Instant now = state_.clock.now();
  if (training.is_damaged || now < training.look_for_damage_at) return;
  try {
    sealed_task_of(state_.store, state_.objects, live.unit.object);
    for (const Hash& hash : {live.task->snapshot, live.task->shard}) {
      state_.objects.read(hash);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    training.damage = error.what();
  }
  Instant done = state_.clock.now();
  training.look_for_damage_at = done + (done - now) / kLookShare;
}

// Of a banned host no report would count; of one that is not proven any more
// none would alone.
void Transitioner::give_to_others(HostId host) {
  if (state_.is_anchor(host)) return;
  const std::set<ResultId> held = state_.feeder.in_progress(host);
  for (ResultId id : held) {
    LiveUnit& live = *state_.feeder.find_by_result(id);
    if (state_.is_banned(host)) {
      take_back(*live.find(id), ResultOutcome::client_error,
                "the host was banned");
      look_at(live.unit.id);
    } else if (live.unit.state == WorkunitState::open &&
               !is_late(state_, live)) {
      scheduler_.demand_quorum(live);
    }
  }
}

void Transitioner::tick() {
  take_back_expired();
  for (const auto& [key, training] : state_.runs) {
    if (training.run.state == RunState::running && training.waits_for_units()) {
      look_for_slow(training);
    }
  }
}

void Transitioner::look_for_slow(const TrainingRun& training) {
  constexpr Seconds kLeast{2};  // less is the way there and back
  for (WorkunitId id :
       state_.feeder.units_in(training.run.key, WorkunitState::open)) {
    for (const Result& result : state_.feeder.find(id)->results) {
      if (result.server_state != ServerState::in_progress) continue;
      const Host& host = *state_.hosts.host(result.host);
      const Seconds usual = training.typical_time == Seconds(0)
                                ? state_.terms(host).lease
                                : training.typical_time;
      const Seconds patience = std::max(kLeast, patience_with(host) * usual);
      if (state_.leases.becomes_slow(result.id, state_.clock.now(), patience)) {
        look_at(id);
      }
    }
  }
}

void Transitioner::take_back_expired() {
  for (ResultId id : state_.leases.take_expired(state_.clock.now())) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    Result* result = live ? live->find(id) : nullptr;
    if (result == nullptr) continue;
    bool was_silent = !state_.is_active(result->host);
    if (!was_silent) state_.rests.failed(result->host, state_.clock.now());
    take_back(*result, ResultOutcome::no_reply,
              was_silent ? "the host was silent for longer than its lease"
                         : "the host took much longer than other hosts");
    look_at(live->unit.id);
  }
}

void Transitioner::settle() {
  DueUnits& due = state_.due;
  while (!due.fallen.empty() || !due.units.empty()) {
    if (!due.fallen.empty()) {
      give_to_others(due.fallen.extract(due.fallen.begin()).value());
      continue;
    }
    const WorkunitId id = due.units.extract(due.units.begin()).value();
    if (LiveUnit* live = state_.feeder.find(id)) take_turn(*live);
  }
}

void Transitioner::take_turn(LiveUnit& live) {
  for (;;) {
    const UnitDecision decision =
        decide(live.unit, live.results, facts_of(state_, live));
    take_step(live, decision);  // after `drop` there is no `live`
    if (ends_turn(decision.step)) return;
  }
}

void Transitioner::take_step(LiveUnit& live, const UnitDecision& decision) {
  switch (decision.step) {
    case UnitStep::wait:
      return;
    case UnitStep::replicate:
      return replicate(live, decision);
    case UnitStep::referee:
      return ask_house(live, decision.create);
    case UnitStep::check:
      note_unusual(live, decision.quorum.canonical);
      return begin_check(live);
    case UnitStep::accept:
      return accept(live, decision.quorum);
    case UnitStep::judge:
      return judge_late_results(live);
    case UnitStep::fail:
      return fail(live, decision.reason);
    case UnitStep::cancel:
      return cancel(live);
    case UnitStep::drop:
      return drop(live);
  }
}

void Transitioner::note_unusual(const LiveUnit& live, ResultId id) {
  const Result& result = *state_.feeder.find(live.unit.id)->find(id);
  const auto excess = excess_of(state_, live, result.update);
  if (!excess) return;
  state_.record(
      "update_unusual", live.unit.run, result.host,
      fmt::format(
          "result {} of unit {}: its {} is {:.3g} times as large as the "
          "largest that was confirmed: somebody else computes it first",
          id, live.unit.unit_index,
          parameters_of(live.task->model).at(excess->tensor).name,
          excess->times));
}

// While no update of the run is confirmed, its others wait for the one that is
// being checked.
void Transitioner::look_at_waiting(const LiveUnit& checked) {
  const TrainingRun& training = state_.run(checked.unit.run);
  if (training.bound.is_settled() || checked.unit.check == UnitCheck::none) {
    return;
  }
  for (const WorkunitId id :
       state_.feeder.units_in(checked.unit.run, WorkunitState::open)) {
    look_at(id);
  }
}

void Transitioner::begin_check(LiveUnit& live) {
  set_check(live.unit, UnitCheck::spot, state_.clock.unix_ms());
  if (!state_.has_referee()) {
    // Another volunteer is the next best.
    set_quorum(live.unit, results_needed(state_.run(live.unit.run).run.quorum,
                                         QuorumFor::own_check));
  }
  state_.feeder.save(live);
}

void Transitioner::accept(LiveUnit& live, const QuorumDecision& quorum) {
  state_.open_results.forget_witnesses(live.unit.object);
  verdicts_.apply(live, quorum);
  look_at_waiting(live);
  take_back_unsent(live);
  const bool was_to_be_checked =
      live.unit.check == UnitCheck::spot && !live.unit.is_unverified;
  if (state_.has_referee() && was_to_be_checked) {
    state_.record("check_failed", live.unit.run, 0,
                  fmt::format("unit {}: no house worker could compute it in {} "
                              "tries: its results are believed without a check",
                              live.unit.unit_index, kMostHouseErrors));
  }
}

void Transitioner::ask_house(LiveUnit& live, std::uint32_t fresh) {
  for (ResultId id : state_.feeder.add_results(live, fresh)) {
    state_.reservations.release(id);
  }
  scheduler_.wants_house(live.unit.id);
}

void Transitioner::replicate(LiveUnit& live, const UnitDecision& decision) {
  if (decision.for_house) return ask_house(live, decision.create);
  for (ResultId id : state_.feeder.add_results(live, decision.create)) {
    scheduler_.reserve(live, id);
  }
}

void Transitioner::fail(LiveUnit& live, const std::string& why) {
  set_state(live.unit, WorkunitState::failed, state_.clock.unix_ms());
  state_.feeder.save(live);
  look_at_waiting(live);
  take_back_unsent(live);
  state_.record("unit_failed", live.unit.run, 0,
                fmt::format("unit {}: {}", live.unit.unit_index, why));
}

void Transitioner::take_back(Result& result, ResultOutcome outcome,
                             const std::string& reason) {
  bool was_sent = result.server_state == ServerState::in_progress;
  mark_ended(result, outcome, reason);
  state_.feeder.save(result);
  state_.leases.end(result.id);
  state_.reservations.end(result.id);
  // After a lost lease the host may still report: see Reports::store().
  if (outcome != ResultOutcome::no_reply) {
    state_.open_results.remove(result.id);
  }
  if (was_sent && outcome != ResultOutcome::didnt_need) {
    ++state_.hosts.host(result.host)->errors;
    state_.hosts.changed(result.host);
  }
}

void Transitioner::take_back_unsent(LiveUnit& live) {
  for (Result& result : live.results) {
    if (result.server_state == ServerState::unsent) {
      take_back(result, ResultOutcome::didnt_need, "");
    }
  }
}

void Transitioner::judge_late_results(LiveUnit& live) {
  for (Result& result : live.results) {
    if (may_count(result)) verdicts_.judge_late(live, result);
  }
}

void Transitioner::close(WorkunitId id, Closing why) {
  LiveUnit* live = state_.feeder.find(id);
  if (live == nullptr) return;
  switch (
      decide_closing(live->unit, live->results, facts_of(state_, *live), why)) {
    case ClosingStep::go_on:
      return;
    case ClosingStep::cancel:
      return cancel(*live);
    case ClosingStep::credit:
      return take_back_unsent(*live);
    case ClosingStep::judge:
      mark_late(live->unit);
      state_.feeder.save(*live);
      take_back_unsent(*live);
      return look_at(id);
  }
}

void Transitioner::reject(ResultId id, const std::string& why) {
  LiveUnit& live = *state_.feeder.find_by_result(id);
  verdicts_.reject_by_hand(live, *live.find(id), why);
  look_at(live.unit.id);
}

void Transitioner::reject_undecided(HostId host, const std::string& why) {
  std::vector<ResultId> undecided;
  for (const auto& [id, live] : state_.feeder.units()) {
    if (live.unit.state != WorkunitState::open) continue;
    for (const Result& result : live.results) {
      if (result.host == host && may_count(result)) {
        undecided.push_back(result.id);
      }
    }
  }
  for (ResultId id : undecided) reject(id, why);
}

void Transitioner::ask_for_check(WorkunitId id) {
  begin_check(*state_.feeder.find(id));
  look_at(id);
}

void Transitioner::accept_unverified(ResultId id) {
  LiveUnit& live = *state_.feeder.find_by_result(id);
  mark_unverified(live.unit);
  accept(live, decided_for(live.find(id)->claim, replicas_of(state_, live)));
  look_at(live.unit.id);
}

std::uint32_t Transitioner::reissue(WorkunitId id, const std::string& why) {
  LiveUnit& live = *state_.feeder.find(id);
  std::uint32_t given_up = 0;
  for (Result& result : live.results) {
    if (result.server_state != ServerState::over) {
      take_back(result, ResultOutcome::didnt_need, why);
      ++given_up;
    } else if (result.outcome == ResultOutcome::client_error) {
      mark_forgiven(result, why);
      state_.feeder.save(result);
    }
  }
  allow_more(live.unit, given_up);
  state_.feeder.save(live);
  look_at(id);
  return given_up;
}

void Transitioner::replicate(WorkunitId id, std::uint32_t more) {
  LiveUnit& live = *state_.feeder.find(id);
  want_more(live.unit, more);
  state_.feeder.save(live);
  look_at(id);
}

void Transitioner::cancel(LiveUnit& live) {
  set_state(live.unit, WorkunitState::cancelled, state_.clock.unix_ms());
  look_at_waiting(live);
  Consequences(state_).forget_recheck(state_.run(live.unit.run), live.unit);
  state_.feeder.save(live);
  for (Result& result : live.results) {
    if (result.server_state != ServerState::over) {
      take_back(result, ResultOutcome::didnt_need, "");
    }
  }
  look_at(live.unit.id);
}

void Transitioner::drop(LiveUnit& live) {
  for (const Result& result : live.results) {
    state_.open_results.remove(result.id);
  }
  state_.open_results.forget_witnesses(live.unit.object);
  state_.feeder.drop(live.unit.id);
}

}  // namespace quorate
