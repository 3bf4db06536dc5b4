#include "validator/quorum.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace quorate {
namespace {

// The replicas that make one claim.
struct Camp {
  std::set<UserId> users;
  ResultId lowest = 0;
};

std::map<Hash, Camp> camps_of(std::span<const Replica> replicas) {
  std::map<Hash, Camp> camps;
  for (const Replica& replica : replicas) {
    Camp& camp = camps[replica.claim];
    camp.users.insert(replica.user);
    if (camp.lowest == 0 || replica.id < camp.lowest) camp.lowest = replica.id;
  }
  return camps;
}

QuorumDecision decided_for(const Hash& claim,
                           std::span<const Replica> replicas) {
  QuorumDecision decision;
  for (const Replica& replica : replicas) {
    const bool agrees = replica.claim == claim;
    (agrees ? decision.valid : decision.invalid).push_back(replica.id);
  }
  decision.canonical =
      *std::min_element(decision.valid.begin(), decision.valid.end());
  return decision;
}

}  // namespace

QuorumDecision decide_quorum(std::span<const Replica> replicas,
                             std::uint32_t min_quorum) {
  check(min_quorum >= 1, "a quorum has at least one member");
  const auto house = std::find_if(replicas.begin(), replicas.end(),
                                  [](const Replica& r) { return r.house; });
  if (house != replicas.end()) return decided_for(house->claim, replicas);

  const std::map<Hash, Camp> camps = camps_of(replicas);
  const Hash* winner = nullptr;
  ResultId winner_lowest = 0;
  std::size_t most_users = 0;
  for (const auto& [claim, camp] : camps) {
    most_users = std::max(most_users, camp.users.size());
    if (camp.users.size() < min_quorum) continue;
    if (winner == nullptr || camp.lowest < winner_lowest) {
      winner = &claim;
      winner_lowest = camp.lowest;
    }
  }
  if (winner != nullptr) return decided_for(*winner, replicas);
  QuorumDecision undecided;
  undecided.missing = min_quorum - static_cast<std::uint32_t>(most_users);
  return undecided;
}

}  // namespace quorate
