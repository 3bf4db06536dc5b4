// What happens next with a unit: the one decision about it. Pure, so that its
// tests are tables without store, clock or hosts. server/judging/transitioner
// gathers the facts, takes the step, and asks again until the answer is one
// that ends (ends_turn). docs/validation.md has the reasons.
//
// We rejected deciding and acting in one sweep, event by event. Each event then
// has its own idea of what a quorum, a late unit or a referee is, and acting on
// one unit calls for another in the middle.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validator/quorum.h"
#include "validator/replication.h"
#include "workunits/workunit.h"

namespace quorate {

// An update beside those of its run that house workers have confirmed.
enum class UpdateLook {
  usual,
  unusual,  // far larger: see validator/update_bound
  first,    // none is confirmed, and none is being checked
  early,    // none is confirmed, and one is being checked
};

// What the decision has to know beside the unit's own rows.
struct UnitFacts {
  // The results that may be part of a quorum, oldest first.
  std::vector<Replica> replicas;
  // In progress at hosts that take much longer than others, while the run can
  // do nothing but wait: others compute the unit, too.
  std::vector<ResultId> slow;
  std::uint32_t run_quorum = 1;  // users that the run's quorum has
  // A quorum of the run counts only with an anchor in it.
  bool needs_anchor = false;
  // The unit's round has closed, or its branch of the model was left. Its
  // results may still be judged and credited; its update is not for the model.
  bool is_late = false;
  // The project has house workers: somebody who settles disputes.
  bool has_referee = false;
  // A volunteer is active who may compute another result of the unit; with
  // `anchor`, a proven one. Asked only where it matters: it takes time.
  std::function<bool(bool anchor)> has_volunteer;
  // Whether a result's update is one that a host's word is enough for. Asked
  // only of a quorum that no house worker is part of.
  std::function<UpdateLook(ResultId)> look_at_update;
  // The draw of the spot check: true now and then, unforeseeable. Asked at most
  // once, and only for a unit that could be checked.
  std::function<bool()> draws_check;
};

// A house worker may fail at a unit this often; then it goes on without one.
constexpr std::uint32_t kMostHouseErrors = 3;

enum class UnitStep {
  wait,       // nothing, until something happens to the unit
  replicate,  // make more results, for volunteers or for a house worker
  referee,    // have a house worker compute it
  check,      // somebody else is to compute it: the verdict waits for that
  accept,     // the verdict
  judge,      // results came after the verdict: judge them, too
  fail,       // it can never be validated
  cancel,     // too late, and nobody is at work on it
  drop,       // needs no more decisions: it leaves the memory
};

std::string_view name_of(UnitStep step);

struct UnitDecision {
  UnitStep step = UnitStep::wait;
  QuorumDecision quorum{};   // check, accept; replicate
  std::uint32_t create = 0;  // replicate, referee: new results
  bool for_house = false;    // replicate: a house worker computes one of them
  std::string reason{};      // fail: why
};

// unit, results: all of it. Calls the functions of `facts` at most once each.
UnitDecision decide(const Workunit& unit, std::span<const Result> results,
                    const UnitFacts& facts);

// True if the unit then waits for something outside, or is gone.
bool ends_turn(UnitStep step);

// Why a unit is closed from outside, and what becomes of it.
enum class Closing {
  round_closed,  // without the unit, which may be credited if it has a report
  branch_left,   // the model went on elsewhere, by a revocation or another rule
  run_ended,
  by_operator,  // who wants nobody to work on it any more
};
enum class ClosingStep {
  go_on,   // as it is: a volunteer's check of it is open
  credit,  // takes nobody new; who is at work may finish
  judge,   // late: goes on to find who was false, not for the model
  cancel,
};
// Of an open or validated unit.
ClosingStep decide_closing(const Workunit& unit,
                           std::span<const Result> results,
                           const UnitFacts& facts, Closing why);

// How many users' results a unit needs: `quorum` is the run's.
enum class QuorumFor {
  proven,     // the unit was made for a proven host: its word is enough
  unproven,   // somebody who is not proven has it
  own_check,  // a spot check that another volunteer makes
};
std::uint32_t results_needed(std::uint32_t quorum, QuorumFor whom);

// By which rule the results of a unit are compared.
QuorumRule quorum_rule(const Workunit& unit, const UnitFacts& facts);

}  // namespace quorate
