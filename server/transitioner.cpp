#include "server/transitioner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "server/sealed_tasks.h"
#include "validator/replication.h"
#include "validator/trust.h"

namespace quorate {
namespace {

// Hosts may fail on purpose, and hashing a large model takes a second: looking
// takes at most a tenth of the time.
constexpr double kLookShare = 0.1;

bool has_in_progress(const LiveUnit& live) {
  return std::any_of(live.results.begin(), live.results.end(),
                     [](const Result& r) {
                       return r.server_state == ServerState::in_progress;
                     });
}

// How often a house worker may fail at a check before the unit goes on without.
constexpr std::uint32_t kMostHouseErrors = 3;

// Whether somebody's honesty is in question.
bool is_to_be_judged(const LiveUnit& live, const QuorumDecision& decision) {
  return live.unit.check == UnitCheck::spot || decision.is_disputed;
}

bool is_answer_of_house(const Result& result) {
  return result.user == kHouseUser && result.outcome == ResultOutcome::success;
}

}  // namespace

void Transitioner::on_reported(WorkunitId unit) {
  if (is_validating_) pass(unit);
}

void Transitioner::pass(WorkunitId unit) {
  if (LiveUnit* live = state_.feeder.find(unit)) advance(*live);
}

void Transitioner::pass_all() {
  std::vector<WorkunitId> ids;
  for (const auto& [id, live] : state_.feeder.units()) ids.push_back(id);
  for (WorkunitId id : ids) pass(id);
}

void Transitioner::on_failed(HostId host, const protocol::Failure& failure) {
  LiveUnit* live = state_.feeder.find_by_result(failure.result);
  Result* result = live ? live->find(failure.result) : nullptr;
  if (result == nullptr || result->host != host ||
      result->server_state != ServerState::in_progress) {
    return;
  }
  take_back(*result, ResultOutcome::client_error, failure.why);
  state_.record("result_failed", live->unit.run, host,
                fmt::format("result {} of unit {}: {}", failure.result,
                            live->unit.unit_index, failure.why));
  state_.rests.failed(host, state_.clock.now());
  look_for_damage(*live);
  advance(*live);
}

void Transitioner::forgive(const TrainingRun& training) {
  std::set<WorkunitId> open =
      state_.feeder.units_in(training.run.key, WorkunitState::open);
  for (WorkunitId id : open) {
    LiveUnit& live = *state_.feeder.find(id);
    for (Result& result : live.results) {
      if (result.outcome != ResultOutcome::client_error) continue;
      result.outcome = ResultOutcome::didnt_need;
      result.reason = "an object of the project was damaged";
      state_.feeder.save(result);
      state_.rests.succeeded(result.host);
    }
    advance(live);
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
      advance(live);
    } else if (live.unit.state == WorkunitState::open &&
               !is_late(state_, live)) {
      scheduler_.demand_quorum(live);
    }
  }
}

void Transitioner::drop_cancelled() {
  for (const auto& [key, training] : state_.runs) {
    const std::set<WorkunitId> cancelled =
        state_.feeder.units_in(key, WorkunitState::cancelled);
    for (WorkunitId id : cancelled) drop_if_done(*state_.feeder.find(id));
  }
}

void Transitioner::tick() {
  drop_cancelled();
  for (HostId host : std::exchange(state_.fallen_now, {})) {
    give_to_others(host);
  }
  for (ResultId id : state_.leases.take_expired(state_.clock.now())) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    Result* result = live ? live->find(id) : nullptr;
    if (result == nullptr) continue;
    bool was_silent = !state_.is_active(result->host);
    if (!was_silent) state_.rests.failed(result->host, state_.clock.now());
    take_back(*result, ResultOutcome::no_reply,
              was_silent ? "the host was silent for longer than its lease"
                         : "the host took much longer than others do");
    advance(*live);
  }
}

void Transitioner::advance(LiveUnit& live) {
  if (live.unit.state == WorkunitState::open) {
    advance_open(live);
  } else {
    judge_late_results(live);
  }
  drop_if_done(live);
}

void Transitioner::advance_open(LiveUnit& live) {
  QuorumDecision decision = decide(live);
  if (decision.decided() && draws_check(live, decision)) {
    begin_check(live);
    decision = decide(live);
  }
  if (needs_house(live, decision)) {
    ask_house(live);
  } else if (decision.decided()) {
    state_.open_results.forget_witnesses(live.unit.object);
    validation_.apply(live, decision);
    take_back_unsent(live);
    note_failed_check(live);
  } else if (is_late(state_, live)) {
    if (!has_in_progress(live)) cancel(live);
  } else {
    replicate(live, decision);
  }
}

bool Transitioner::needs_anchor(const LiveUnit& live) const {
  return state_.needs_anchor(state_.run(live.unit.run).run);
}

QuorumDecision Transitioner::decide(const LiveUnit& live) {
  return decide_quorum(replicas_of(state_, live), quorum_rule(state_, live));
}

// Proven hosts are checked now and then, by a draw that nobody can foresee:
// their results are in already. One is believed alone, another may vouch for an
// accomplice, whom the server drew by chance or who is new by choice.
bool Transitioner::draws_check(LiveUnit& live, const QuorumDecision& decision) {
  if (live.unit.check != UnitCheck::none) return false;
  const bool has_house = state_.settings.house_workers > 0;
  const bool is_of_house = std::any_of(
      decision.valid.begin(), decision.valid.end(),
      [&](ResultId id) { return live.find(id)->user == kHouseUser; });
  const bool is_alone = decision.valid.size() == 1;
  // Where nobody could do it, it would hold up the run for ever.
  const bool is_possible =
      has_house
          ? is_alone || needs_anchor(live)
          : is_alone && scheduler_.has_volunteer_for(live, needs_anchor(live));
  return is_possible && !is_of_house &&
         quorate::draws_check(state_.trust.policy(), state_.draw());
}

void Transitioner::begin_check(LiveUnit& live) {
  live.unit.check = UnitCheck::spot;
  if (state_.settings.house_workers == 0) {
    // Another volunteer is the next best.
    live.unit.min_quorum = 2;
    live.unit.target_results = 2;
  }
  state_.feeder.save(live);
}

// A drawn check; members that disagree, even if one side is enough for a
// quorum; and that training diverged stops the run, so volunteers' word is not
// enough for it where there is another.
bool Transitioner::needs_house(LiveUnit& live, const QuorumDecision& decision) {
  if (state_.settings.house_workers == 0) return false;
  const bool is_wanted =
      is_to_be_judged(live, decision) ||
      (decision.decided() &&
       live.find(decision.canonical)->computed == ComputeOutcome::diverged);
  return is_wanted &&
         count_instances(live.results).house_errors < kMostHouseErrors &&
         std::none_of(live.results.begin(), live.results.end(),
                      is_answer_of_house);
}

void Transitioner::note_failed_check(const LiveUnit& live) {
  if (state_.settings.house_workers == 0) return;
  if (live.unit.check != UnitCheck::spot) return;
  state_.record("check_failed", live.unit.run, 0,
                fmt::format("unit {}: no house worker could compute it in {} "
                            "tries, its results are believed unchecked",
                            live.unit.unit_index, kMostHouseErrors));
}

void Transitioner::ask_house(LiveUnit& live) {
  Instances now = count_instances(live.results);
  if (now.house_in_progress > 0) return;
  if (now.unsent == 0) {
    state_.reservations.release(state_.feeder.add_results(live, 1).at(0));
  }
  scheduler_.wants_house(live.unit.id);
}

void Transitioner::replicate(LiveUnit& live, const QuorumDecision& quorum) {
  ReplicationDecision wanted = more_results_wanted(
      live.unit, count_instances(live.results), quorum,
      scheduler_.has_volunteer_for(live, quorum.wants_anchor),
      state_.settings.house_workers > 0);
  if (!wanted.failure.empty()) {
    live.unit.state = WorkunitState::failed;
    state_.feeder.save(live);
    take_back_unsent(live);
    state_.record(
        "unit_failed", live.unit.run, 0,
        fmt::format("unit {}: {}", live.unit.unit_index, wanted.failure));
    return;
  }
  std::vector<ResultId> fresh;
  if (wanted.create > 0) fresh = state_.feeder.add_results(live, wanted.create);
  if (wanted.wants_house && state_.settings.house_workers > 0) {
    for (ResultId id : fresh) state_.reservations.release(id);
    scheduler_.wants_house(live.unit.id);
    return;
  }
  for (ResultId id : fresh) scheduler_.reserve(live, id);
}

void Transitioner::take_back(Result& result, ResultOutcome outcome,
                             const std::string& reason) {
  bool was_sent = result.server_state == ServerState::in_progress;
  result.server_state = ServerState::over;
  result.outcome = outcome;
  result.reason = reason;
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
    if (may_count(result)) {
      validation_.judge_late(live, result);
    }
  }
}

void Transitioner::close_late(LiveUnit& live) {
  // Without a house worker a volunteer does the check.
  if (only_judges(live) || live.unit.check == UnitCheck::spot) return;
  take_back_unsent(live);
  bool has_report = !replicas_of(state_, live).empty();
  if (has_report && has_in_progress(live)) return;  // may still be credited
  cancel(live);
  drop_if_done(live);
}

void Transitioner::close(LiveUnit& live) {
  if (only_judges(live)) return;
  cancel(live);
  drop_if_done(live);
}

bool Transitioner::only_judges(LiveUnit& live) {
  const bool is_open = live.unit.state == WorkunitState::open;
  if (!is_open || state_.settings.house_workers == 0 ||
      !is_to_be_judged(live, decide(live))) {
    return false;
  }
  live.unit.is_late = true;
  state_.feeder.save(live);
  take_back_unsent(live);
  advance(live);
  return true;
}

void Transitioner::cancel(LiveUnit& live) {
  live.unit.state = WorkunitState::cancelled;
  Consequences::forget_recheck(state_.run(live.unit.run), live.unit);
  state_.feeder.save(live);
  for (Result& result : live.results) {
    if (result.server_state != ServerState::over) {
      take_back(result, ResultOutcome::didnt_need, "");
    }
  }
  judge_late_results(live);
}

void Transitioner::drop_if_done(LiveUnit& live) {
  bool is_open = live.unit.state == WorkunitState::open ||
                 live.unit.state == WorkunitState::validated;
  if (is_open || has_in_progress(live)) return;
  for (const Result& result : live.results) {
    state_.open_results.remove(result.id);
  }
  state_.open_results.forget_witnesses(live.unit.object);
  state_.feeder.drop(live.unit.id);
}

}  // namespace quorate
