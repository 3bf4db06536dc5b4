// What the operator may order about one result or one unit, and what speaks
// against it. Pure; server/orders/result_orders asks before it changes
// anything, and server/judging/transitioner then takes the step.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "workunits/workunit.h"

namespace quorate {

// What is known of the unit beside its rows.
struct ByHandFacts {
  std::string run;
  // It goes on: running or paused, its ledger has no end.
  bool is_run_active = true;
  // See UnitFacts.
  bool is_late = false;
  bool has_referee = false;
};

// A unit by hand gets at most this many results more than it would.
constexpr std::uint32_t kMostByHand = 16;

// Why the order makes no sense, and what does, for people; empty: it may be
// carried out.
//
// reject: a reported result of an undecided unit, or of a decided one that is
// not in the model, is judged invalid; the unit goes on without it.
std::string against_rejecting(const Result& result, const Workunit& unit,
                              const ByHandFacts& facts);
// accept: a house worker computes the unit, whose claim decides.
// results: all of the unit.
std::string against_accepting(const Result& result, const Workunit& unit,
                              std::span<const Result> results,
                              const ByHandFacts& facts);
// accept without recomputation: the operator's word decides, for a claim that
// nobody who reported contradicts.
std::string against_accepting_unverified(const Result& result,
                                         const Workunit& unit,
                                         std::span<const Result> results,
                                         const ByHandFacts& facts);
// revoke: an update is taken out of the model.
std::string against_revoking(const Result& result, const Workunit& unit,
                             const ByHandFacts& facts);
// cancel: nobody works on the unit any more, and its update is not merged.
std::string against_cancelling(const Workunit& unit, const ByHandFacts& facts);
// reissue: what is out is given up, and the unit is sent anew.
std::string against_reissuing(const Workunit& unit, const ByHandFacts& facts);
// replicate: `more` results beyond what the quorum needs.
std::string against_replicating(const Workunit& unit,
                                std::span<const Result> results,
                                std::uint32_t more, const ByHandFacts& facts);

}  // namespace quorate
