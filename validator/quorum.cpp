#include "validator/quorum.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "workunits/ledger/ledger.h"

namespace quorate {
namespace {

// The replicas that make one claim.
struct Camp {
  std::set<UserId> users;
  ResultId lowest = 0;
  bool has_anchor = false;
  bool has_payload = false;
};

std::map<Hash, Camp> camps_of(std::span<const Replica> replicas) {
  std::map<Hash, Camp> camps;
  for (const Replica& replica : replicas) {
    Camp& camp = camps[replica.claim];
    camp.users.insert(replica.user);
    camp.has_anchor |= replica.anchor;
    camp.has_payload |= replica.has_payload;
    if (camp.lowest == 0 || replica.id < camp.lowest) camp.lowest = replica.id;
  }
  return camps;
}

// Agreeing results that the camp lacks; 0: it wins.
std::uint32_t missing_of(const Camp& camp, const QuorumRule& rule) {
  const auto users = static_cast<std::uint32_t>(camp.users.size());
  if (users < rule.min_quorum) return rule.min_quorum - users;
  const bool is_whole =
      camp.has_payload && (camp.has_anchor || !rule.needs_anchor);
  return is_whole ? 0 : 1;
}

QuorumDecision undecided(const std::map<Hash, Camp>& camps,
                         const QuorumRule& rule) {
  QuorumDecision decision;
  decision.missing = rule.min_quorum;
  decision.wants_anchor = rule.needs_anchor;
  decision.is_disputed = camps.size() > 1;
  for (const auto& [claim, camp] : camps) {
    decision.missing = std::min(decision.missing, missing_of(camp, rule));
    if (camp.has_anchor) decision.wants_anchor = false;
  }
  return decision;
}

}  // namespace

QuorumDecision decided_for(const Hash& claim,
                           std::span<const Replica> replicas) {
  QuorumDecision decision;
  for (const Replica& replica : replicas) {
    const bool agrees = replica.claim == claim;
    (agrees ? decision.valid : decision.invalid).push_back(replica.id);
    const bool is_first =
        decision.canonical == 0 || replica.id < decision.canonical;
    if (agrees && replica.has_payload && is_first) {
      decision.canonical = replica.id;
    }
  }
  decision.is_disputed = !decision.invalid.empty();
  return decision;
}

QuorumDecision decide_quorum(std::span<const Replica> replicas,
                             const QuorumRule& rule) {
  check(rule.min_quorum >= 1, "a quorum has at least one member");
  const auto house = std::find_if(replicas.begin(), replicas.end(),
                                  [](const Replica& r) { return r.house; });
  if (house != replicas.end()) return decided_for(house->claim, replicas);

  const std::map<Hash, Camp> camps = camps_of(replicas);
  const Hash* winner = nullptr;
  ResultId winner_lowest = 0;
  for (const auto& [claim, camp] : camps) {
    if (missing_of(camp, rule) > 0) continue;
    if (winner == nullptr || camp.lowest < winner_lowest) {
      winner = &claim;
      winner_lowest = camp.lowest;
    }
  }
  if (winner != nullptr) return decided_for(*winner, replicas);
  return undecided(camps, rule);
}

std::string_view basis_of(std::span<const Result> results) {
  std::size_t valid = 0;
  bool has_anchor = false;
  for (const Result& result : results) {
    if (result.validate_state != ValidateState::valid) continue;
    if (result.user == kHouseUser) return "house";
    ++valid;
    has_anchor = has_anchor || result.was_anchor;
  }
  return valid == 1 && has_anchor ? "proven" : "quorum";
}

std::string_view basis_of(const Workunit& unit,
                          std::span<const Result> results) {
  return unit.is_unverified ? kUnverified : basis_of(results);
}

}  // namespace quorate
