#include "server/validation.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/credit.h"

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

void note_time(TrainingRun& training, const Result& result) {
  constexpr double kWeight = 0.1;
  Seconds took{
      std::max(0.0, static_cast<double>(result.received - result.sent) / 1000)};
  Seconds& typical = training.typical_time;
  typical =
      typical == Seconds(0) ? took : (1 - kWeight) * typical + kWeight * took;
}

}  // namespace

std::vector<Replica> replicas_of(const LiveUnit& live) {
  std::vector<Replica> replicas;
  for (const Result& result : live.results) {
    if (result.outcome == ResultOutcome::success &&
        (result.validate_state == ValidateState::init ||
         result.validate_state == ValidateState::inconclusive)) {
      replicas.push_back(
          {result.id, result.user, result.user == kHouseUser, result.claim});
    }
  }
  return replicas;
}

void Validation::apply(LiveUnit& live, const QuorumDecision& decision) {
  const Result& canonical = *live.find(decision.canonical);
  live.unit.canonical_result = canonical.id;
  TrainingRun& training = state_.run(live.unit.run);
  bool is_late =
      training.rule->in_rounds() && live.unit.round < training.cursor.round;
  if (canonical.computed == ComputeOutcome::diverged) {
    live.unit.state = WorkunitState::diverged;
    training.diverged_unit = live.unit.unit_index;
  } else {
    live.unit.state =
        is_late ? WorkunitState::credited : WorkunitState::validated;
  }
  state_.feeder.save(live);
  for (ResultId id : decision.valid) grant(live, *live.find(id));
  for (ResultId id : decision.invalid) {
    reject(live, *live.find(id),
           fmt::format("disagrees with result {}, on which {} agree",
                       decision.canonical, decision.valid.size()));
  }
  state_.activity.add_closed(live.unit.run,
                             closed_unit(live, state_.clock.unix_ms()));
}

void Validation::judge_late(LiveUnit& live, Result& result) {
  const Result* canonical = live.find(live.unit.canonical_result);
  if (canonical == nullptr) {
    result.validate_state = ValidateState::too_late;
    state_.feeder.save(result);
  } else if (result.claim == canonical->claim) {
    grant(live, result);
  } else {
    reject(live, result,
           fmt::format("disagrees with result {}, which a quorum had chosen",
                       canonical->id));
  }
}

void Validation::grant(const LiveUnit& live, Result& result) {
  state_.activity.count_valid();
  result.validate_state = ValidateState::valid;
  state_.rests.succeeded(result.host);
  note_time(state_.run(live.unit.run), result);
  result.credit = credit_of(live.unit.operations);
  state_.feeder.save(result);
  ++state_.hosts.host(result.host)->valid;
  state_.hosts.add_credit(result.host, result.credit);
}

void Validation::reject(LiveUnit& live, Result& result,
                        const std::string& reason) {
  state_.activity.count_rejected();
  result.validate_state = ValidateState::invalid;
  result.reason = reason;
  state_.feeder.save(result);
  ++state_.hosts.host(result.host)->invalid;
  state_.rests.failed(result.host, state_.clock.now());
  state_.hosts.changed(result.host);
  state_.record("result_rejected", live.unit.run, result.host,
                fmt::format("result {} of unit {}: {}", result.id,
                            live.unit.unit_index, reason));
}

}  // namespace quorate
