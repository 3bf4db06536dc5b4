#include "server/matching.h"

#include <algorithm>
#include <map>
#include <vector>

namespace quorate {

bool suits(std::span<const Result> results, UserId user) {
  return std::none_of(results.begin(), results.end(), [user](const Result& r) {
    return r.server_state != ServerState::unsent &&
           r.outcome != ResultOutcome::didnt_need && r.user == user;
  });
}

std::optional<HostId> draw_host(std::span<const Candidate> candidates,
                                std::uint64_t random_user,
                                std::uint64_t random_host) {
  std::map<UserId, std::vector<HostId>> by_user;
  for (const Candidate& candidate : candidates) {
    by_user[candidate.user].push_back(candidate.host);
  }
  if (by_user.empty()) return std::nullopt;
  auto user =
      std::next(by_user.begin(),
                static_cast<std::ptrdiff_t>(random_user % by_user.size()));
  const std::vector<HostId>& hosts = user->second;
  return hosts[random_host % hosts.size()];
}

}  // namespace quorate
