#include "server/judging/verdicts.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/hosts/credit.h"
#include "server/judging/unit_facts.h"
#include "server/units/states.h"

namespace quorate {
namespace {

ClosedUnit closed_unit(const LiveUnit& live, Millis now) {
  ClosedUnit closed;
  closed.unit_index = live.unit.unit_index;
  closed.base_version = live.unit.base_version;
  closed.state = live.unit.state;
  closed.created = live.unit.created;
  closed.closed = now;
  for (const Result& result : live.results) {
    if (result.host == 0) continue;  // never sent
    closed.replicas.push_back({result.host, result.server_state, result.outcome,
                               result.validate_state});
  }
  return closed;
}

// A step towards each result's time finds the median, however long a few take
// on purpose: an average would follow them.
void note_time(TrainingRun& training, const Result& result) {
  constexpr double kStep = 1.1;
  Seconds took{
      std::max(0.0, static_cast<double>(result.received - result.sent) / 1000)};
  Seconds& typical = training.typical_time;
  typical = typical == Seconds(0)
                ? took
                : std::clamp(took, typical / kStep, typical * kStep);
}

bool is_valid_of_house(LiveUnit& live, const QuorumDecision& decision) {
  return std::any_of(
      decision.valid.begin(), decision.valid.end(),
      [&](ResultId id) { return live.find(id)->user == kHouseUser; });
}

bool has_anchor(LiveUnit& live, const QuorumDecision& decision) {
  return std::any_of(decision.valid.begin(), decision.valid.end(),
                     [&](ResultId id) { return live.find(id)->was_anchor; });
}

bool is_in_model(const LiveUnit& live) {
  return live.unit.state == WorkunitState::validated ||
         live.unit.state == WorkunitState::assimilated;
}

}  // namespace

void Verdicts::apply(LiveUnit& live, const QuorumDecision& decision) {
  const Result& canonical = *live.find(decision.canonical);
  live.unit.canonical_result = canonical.id;
  TrainingRun& training = state_.run(live.unit.run);
  training.aborts = {};  // somebody could compute a unit
  if (is_late(state_, live)) {
    set_state(live.unit, WorkunitState::credited, state_.clock.unix_ms());
  } else if (canonical.computed == ComputeOutcome::diverged) {
    set_state(live.unit, WorkunitState::diverged, state_.clock.unix_ms());
    if (!training.divergence) training.divergence = {live.unit.unit_index};
  } else {
    set_state(live.unit, WorkunitState::validated, state_.clock.unix_ms());
  }
  for (const Replica& replica : replicas_of(state_, live)) {
    live.find(replica.id)->was_anchor = replica.anchor;
  }
  if (is_valid_of_house(live, decision)) {
    set_check(live.unit, UnitCheck::sound, state_.clock.unix_ms());
    const auto size = live.sizes.find(canonical.update);
    if (size != live.sizes.end()) training.bound.add_confirmed(size->second);
  }
  state_.feeder.save(live);
  for (ResultId id : decision.valid) grant(live, *live.find(id));
  credit_trust(live, decision);
  const bool is_known_false = has_anchor(live, decision);
  for (ResultId id : decision.invalid) {
    Result& result = *live.find(id);
    std::string reason =
        fmt::format("disagrees with result {}, on which {} agree",
                    decision.canonical, decision.valid.size());
    if (is_known_false) {
      reject_false(live, result, reason);
    } else {
      reject(live, result, reason);
    }
  }
  state_.activity.add_closed(live.unit.run,
                             closed_unit(live, state_.clock.unix_ms()));
}

// Trust grows with what somebody trusted computed too; where the operator wants
// no anchors, with what any other user did.
void Verdicts::credit_trust(LiveUnit& live, const QuorumDecision& decision) {
  const bool any_vouches = !state_.trust.policy().anchor;
  for (ResultId id : decision.valid) {
    const Result& result = *live.find(id);
    if (result.user == kHouseUser) continue;
    const bool is_vouched = std::any_of(
        decision.valid.begin(), decision.valid.end(), [&](ResultId other) {
          const Result& voucher = *live.find(other);
          return voucher.user != result.user &&
                 (voucher.was_anchor || any_vouches);
        });
    if (is_vouched) consequences_.on_vouched(result);
  }
}

void Verdicts::judge_late(LiveUnit& live, Result& result) {
  const Result* canonical = live.find(live.unit.canonical_result);
  const bool agrees = canonical != nullptr && result.claim == canonical->claim;
  // An agreeing one whose proof could not be checked has shown nothing.
  const bool has_proof = result.validate_state == ValidateState::init;
  const bool is_known_false = live.unit.check == UnitCheck::unsound ||
                              live.unit.check == UnitCheck::revoked;
  if (agrees && is_known_false) {
    reject_false(
        live, result,
        fmt::format("agrees with result {}, which was false", canonical->id));
  } else if (canonical == nullptr || (agrees && !has_proof)) {
    set_verdict(result, ValidateState::too_late);
    state_.feeder.save(result);
  } else if (agrees) {
    grant(live, result);
  } else if (live.unit.check == UnitCheck::sound) {
    reject_false(
        live, result,
        fmt::format("disagrees with result {}, which a quorum had chosen",
                    canonical->id));
  } else if (is_in_model(live)) {
    // Somebody is false, a quorum of accomplices perhaps: a trusted worker
    // finds out who.
    set_verdict(
        result, ValidateState::too_late,
        fmt::format("disagrees with result {}, which is being rechecked",
                    canonical->id));
    state_.feeder.save(result);
    const bool is_unchecked = live.unit.check == UnitCheck::none ||
                              live.unit.check == UnitCheck::spot;
    if (is_unchecked) consequences_.recheck(live.unit);
  } else {
    reject(live, result,
           fmt::format("disagrees with result {}, which a quorum had chosen",
                       canonical->id));
  }
}

void Verdicts::grant(const LiveUnit& live, Result& result) {
  state_.activity.count_valid();
  set_verdict(result, ValidateState::valid);
  state_.rests.succeeded(result.host);
  note_time(state_.run(live.unit.run), result);
  result.credit = credit_of(live.unit.operations);
  state_.feeder.save(result);
  ++state_.hosts.host(result.host)->valid;
  const Millis now = state_.clock.unix_ms();
  state_.hosts.add_credit(result.host, result.credit, now, now);
}

void Verdicts::reject_false(LiveUnit& live, Result& result,
                            const std::string& reason) {
  reject(live, result, reason);
  consequences_.on_false(result.host, result.run,
                         fmt::format("result {} of unit {}: {}", result.id,
                                     live.unit.unit_index, reason));
}

void Verdicts::take_back_verdict(LiveUnit& live) {
  consequences_.forget_recheck(state_.run(live.unit.run), live.unit);
  if (live.unit.check == UnitCheck::sound) {
    set_check(live.unit, UnitCheck::none, state_.clock.unix_ms());
  }
  reopen(live.unit);
  state_.feeder.save(live);
  for (Result& result : live.results) {
    if (result.validate_state != ValidateState::valid) continue;
    consequences_.take_credit(result);
    set_verdict(result, ValidateState::init);
    state_.feeder.save(result);
  }
}

void Verdicts::reject_by_hand(LiveUnit& live, Result& result,
                              const std::string& reason) {
  if (live.unit.state == WorkunitState::validated) take_back_verdict(live);
  mark_refused(result);
  reject(live, result, reason);
}

void Verdicts::reject(LiveUnit& live, Result& result,
                      const std::string& reason) {
  state_.activity.count_rejected();
  set_verdict(result, ValidateState::invalid, reason);
  state_.feeder.save(result);
  ++state_.hosts.host(result.host)->invalid;
  state_.rests.failed(result.host, state_.clock.now());
  state_.hosts.changed(result.host);
  state_.record("result_rejected", live.unit.run, result.host,
                fmt::format("result {} of unit {}: {}", result.id,
                            live.unit.unit_index, reason));
}

}  // namespace quorate
