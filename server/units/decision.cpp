#include "server/units/decision.h"

#include <algorithm>

#include "server/units/states.h"

namespace quorate {
namespace {

bool has_in_progress(std::span<const Result> results) {
  return std::any_of(results.begin(), results.end(), [](const Result& r) {
    return r.server_state == ServerState::in_progress;
  });
}

const Result& find(std::span<const Result> results, ResultId id) {
  return *std::find_if(results.begin(), results.end(),
                       [id](const Result& r) { return r.id == id; });
}

// Somebody's honesty is in question.
bool is_to_be_judged(const Workunit& unit, const QuorumDecision& quorum) {
  return unit.check == UnitCheck::spot || quorum.is_disputed;
}

bool is_of_house(std::span<const Result> results,
                 const QuorumDecision& quorum) {
  return std::any_of(
      quorum.valid.begin(), quorum.valid.end(),
      [&](ResultId id) { return find(results, id).user == kHouseUser; });
}

bool has_diverged(std::span<const Result> results,
                  const QuorumDecision& quorum) {
  return find(results, quorum.canonical).computed == ComputeOutcome::diverged;
}

// Of an update that may become part of the model on volunteers' word.
UpdateLook look_of(std::span<const Result> results, const UnitFacts& facts,
                   const QuorumDecision& quorum) {
  if (facts.is_late || has_diverged(results, quorum)) return UpdateLook::usual;
  return facts.look_at_update(quorum.canonical);
}

// Proven hosts are checked now and then, by a draw that nobody can foresee:
// their results are in already. One is believed alone, another may vouch for an
// accomplice, whom the server drew by chance or who is new by choice. And they
// are checked whenever their update is far larger than others.
UnitStep step_before_verdict(const Workunit& unit,
                             std::span<const Result> results,
                             const UnitFacts& facts,
                             const QuorumDecision& quorum) {
  if (unit.check != UnitCheck::none || is_of_house(results, quorum)) {
    return UnitStep::accept;
  }
  const bool is_alone = quorum.valid.size() == 1;
  // Where nobody could do it, it would hold up the run for ever.
  if (!facts.has_referee &&
      !(is_alone && facts.has_volunteer(facts.needs_anchor))) {
    return UnitStep::accept;
  }
  const UpdateLook look = look_of(results, facts, quorum);
  if (look == UpdateLook::early) return UnitStep::wait;
  if (look != UpdateLook::usual) return UnitStep::check;
  const bool may_be_drawn = is_alone || facts.needs_anchor;
  return may_be_drawn && facts.draws_check() ? UnitStep::check
                                             : UnitStep::accept;
}

// A drawn check; members that disagree, even if one side is enough for a
// quorum; and a training that diverged: that stops the run, so volunteers' word
// is not enough for it where there is another.
bool needs_referee(const Workunit& unit, std::span<const Result> results,
                   const UnitFacts& facts, const QuorumDecision& quorum) {
  if (!facts.has_referee) return false;
  if (!is_to_be_judged(unit, quorum) &&
      !(quorum.decided() && has_diverged(results, quorum))) {
    return false;
  }
  const bool has_answer =
      std::any_of(results.begin(), results.end(), [](const Result& r) {
        return r.user == kHouseUser && r.outcome == ResultOutcome::success;
      });
  return !has_answer &&
         count_instances(results).house_errors < kMostHouseErrors;
}

UnitDecision ask_referee(std::span<const Result> results) {
  const Instances now = count_instances(results);
  UnitDecision decision;
  if (now.house_in_progress > 0) return decision;
  decision.step = UnitStep::referee;
  decision.create = now.unsent == 0 ? 1 : 0;
  return decision;
}

UnitDecision replicate(const Workunit& unit, std::span<const Result> results,
                       const UnitFacts& facts, QuorumDecision quorum) {
  ReplicationDecision more = more_results_wanted(
      unit, count_instances(results, facts.slow), quorum,
      facts.has_volunteer(quorum.wants_anchor), facts.has_referee);
  UnitDecision decision;
  if (!more.failure.empty()) {
    decision.step = UnitStep::fail;
    decision.reason = std::move(more.failure);
    return decision;
  }
  decision.for_house = more.wants_house && facts.has_referee;
  decision.create = more.create;
  if (more.create > 0 || decision.for_house) {
    decision.step = UnitStep::replicate;
  }
  decision.quorum = std::move(quorum);
  return decision;
}

// House workers have failed at its check, and it looks false without one.
bool is_beyond_belief(const Workunit& unit, std::span<const Result> results,
                      const UnitFacts& facts, const QuorumDecision& quorum) {
  return facts.has_referee && unit.check == UnitCheck::spot &&
         !is_of_house(results, quorum) &&
         look_of(results, facts, quorum) == UpdateLook::unusual;
}

UnitDecision decide_open(const Workunit& unit, std::span<const Result> results,
                         const UnitFacts& facts) {
  QuorumDecision quorum =
      decide_quorum(facts.replicas, quorum_rule(unit, facts));
  UnitDecision decision;
  if (quorum.decided()) {
    decision.step = step_before_verdict(unit, results, facts, quorum);
    if (decision.step != UnitStep::accept) {
      decision.quorum = std::move(quorum);
      return decision;
    }
  }
  if (needs_referee(unit, results, facts, quorum)) return ask_referee(results);
  if (quorum.decided()) {
    if (is_beyond_belief(unit, results, facts, quorum)) {
      decision.step = UnitStep::fail;
      decision.reason =
          "its update is far larger than others, and no house worker could "
          "compute it";
      return decision;
    }
    decision.quorum = std::move(quorum);
  } else if (!facts.is_late) {
    return replicate(unit, results, facts, std::move(quorum));
  } else if (!has_in_progress(results)) {
    decision.step = UnitStep::cancel;
  }
  return decision;
}

UnitDecision decide_closed(const Workunit& unit,
                           std::span<const Result> results) {
  UnitDecision decision;
  if (std::any_of(results.begin(), results.end(), may_count)) {
    decision.step = UnitStep::judge;
  } else if (unit.state != WorkunitState::validated &&
             !has_in_progress(results)) {
    decision.step = UnitStep::drop;
  }
  return decision;
}

}  // namespace

UnitDecision decide(const Workunit& unit, std::span<const Result> results,
                    const UnitFacts& facts) {
  return unit.state == WorkunitState::open ? decide_open(unit, results, facts)
                                           : decide_closed(unit, results);
}

std::string_view name_of(UnitStep step) {
  switch (step) {
    case UnitStep::wait:
      return "wait";
    case UnitStep::replicate:
      return "replicate";
    case UnitStep::referee:
      return "referee";
    case UnitStep::check:
      return "check";
    case UnitStep::accept:
      return "accept";
    case UnitStep::judge:
      return "judge";
    case UnitStep::fail:
      return "fail";
    case UnitStep::cancel:
      return "cancel";
    case UnitStep::drop:
      return "drop";
  }
  return "unknown";
}

bool ends_turn(UnitStep step) {
  switch (step) {
    case UnitStep::wait:
    case UnitStep::replicate:
    case UnitStep::referee:
    case UnitStep::drop:
      return true;
    case UnitStep::check:
    case UnitStep::accept:
    case UnitStep::judge:
    case UnitStep::fail:
    case UnitStep::cancel:
      return false;
  }
  return true;
}

ClosingStep decide_closing(const Workunit& unit,
                           std::span<const Result> results,
                           const UnitFacts& facts, Closing why) {
  if (why == Closing::run_ended) return ClosingStep::cancel;
  const bool is_open = unit.state == WorkunitState::open;
  if (is_open && facts.has_referee) {
    const QuorumDecision quorum =
        decide_quorum(facts.replicas, quorum_rule(unit, facts));
    if (is_to_be_judged(unit, quorum)) return ClosingStep::judge;
  }
  if (why == Closing::branch_left || why == Closing::by_operator) {
    return ClosingStep::cancel;
  }
  if (unit.check == UnitCheck::spot) return ClosingStep::go_on;
  const bool may_be_credited =
      !facts.replicas.empty() && has_in_progress(results);
  return may_be_credited ? ClosingStep::credit : ClosingStep::cancel;
}

std::uint32_t results_needed(std::uint32_t quorum, QuorumFor whom) {
  constexpr std::uint32_t kWithAnother = 2;
  switch (whom) {
    case QuorumFor::proven:
      return 1;
    case QuorumFor::unproven:
      return quorum;
    case QuorumFor::own_check:
      return kWithAnother;
  }
  return quorum;
}

QuorumRule quorum_rule(const Workunit& unit, const UnitFacts& facts) {
  // Fewer than the run wants are enough only of a host that is proven still.
  const bool is_for_proven = unit.min_quorum < facts.run_quorum;
  return {unit.min_quorum, is_for_proven || facts.needs_anchor};
}

}  // namespace quorate
