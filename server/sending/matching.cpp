#include "server/sending/matching.h"

#include <algorithm>
#include <map>
#include <vector>

namespace quorate {

namespace {

bool had_turn(const Result& result, UserId user) {
  return result.server_state != ServerState::unsent && result.user == user &&
         result.outcome != ResultOutcome::didnt_need;
}

}  // namespace

bool suits(std::span<const Result> results, UserId user) {
  return std::none_of(results.begin(), results.end(),
                      [user](const Result& r) { return had_turn(r, user); });
}

bool suits_again(std::span<const Result> results, UserId user) {
  return std::none_of(results.begin(), results.end(), [user](const Result& r) {
    return had_turn(r, user) && r.outcome != ResultOutcome::no_reply;
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
