#include "server/sending/eligibility.h"

#include <algorithm>

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

bool Eligibility::suits(UserId user) const {
  return again_ ? suits_again(live_.results, user)
                : quorate::suits(live_.results, user);
}

bool Eligibility::may(const Host& host, From from) const {
  return suits(host.user_id) && host.mark != HostMark::banned &&
         state_.is_apart(live_, host.id) &&
         (from == From::anybody || state_.is_anchor(host.id));
}

bool Eligibility::is_there(HostId id, From from) const {
  return state_.is_active(id) && may(*state_.hosts.host(id), from);
}

bool Eligibility::has_volunteer(From from) const {
  const std::vector<UserId>& users = state_.hosts.volunteers();
  return std::any_of(users.begin(), users.end(), [&](UserId user) {
    if (!suits(user)) return false;
    const std::vector<HostId>& of_user = state_.hosts.hosts_of(user);
    return std::any_of(of_user.begin(), of_user.end(),
                       [&](HostId host) { return is_there(host, from); });
  });
}

}  // namespace quorate
