// Do the results of one workunit agree, and which of them stands for it?
// Pure: who asks for more replicas is validator/replication, who acts on the
// verdict is the server. docs/validation.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "workunits/workunit.h"

namespace quorate {

// A result that passed screening.
struct Replica {
  ResultId id = 0;
  UserId user = 0;
  bool house = false;   // computed by a worker that the operator trusts
  bool anchor = false;  // house, or of a proven host: see validator/trust
  // Its payload is stored, or it has none (the training diverged).
  bool has_payload = true;
  Hash claim;  // claim_hash() of its header
};

struct QuorumRule {
  std::uint32_t min_quorum = 1;  // different users
  // One member at least is an anchor: free keys must not vouch for each other.
  bool needs_anchor = false;
};

struct QuorumDecision {
  // 0 while undecided.
  ResultId canonical = 0;
  // Undecided: at least this many more agreeing results are needed.
  std::uint32_t missing = 0;
  // Undecided: one of the missing must be an anchor.
  bool wants_anchor = false;
  // More than one claim was made.
  bool is_disputed = false;
  // Decided: every replica is in one of the two, in the order given.
  std::vector<ResultId> valid;    // same claim as the canonical result
  std::vector<ResultId> invalid;  // another claim

  bool decided() const { return canonical != 0; }
};

// The verdict on `replicas`, the results of one workunit, oldest first.
// A house worker's claim decides at once (of several, the oldest). Otherwise a
// claim needs min_quorum (at least 1) different users, an anchor if the rule
// says so, and a payload: however many results of one user agree, they count
// once, because one person owns them all. Should two claims have enough, that
// with the lowest result id wins. The canonical result is the one with the
// lowest id among the valid that have a payload.
QuorumDecision decide_quorum(std::span<const Replica> replicas,
                             const QuorumRule& rule);

// The verdict for `claim`, whoever makes it: the operator decides so.
QuorumDecision decided_for(const Hash& claim,
                           std::span<const Replica> replicas);

// What the update of a validated workunit rests on, for its ledger entry
// (docs/formats.md). results: all of the workunit.
//   "house"   a house worker computed it: alone, as referee, or as a check
//   "proven"  the word of one proven host
//   "quorum"  the users that the run asks for agree
std::string_view basis_of(std::span<const Result> results);
// The same, of a unit that the operator may have decided: kUnverified then.
std::string_view basis_of(const Workunit& unit,
                          std::span<const Result> results);

}  // namespace quorate
