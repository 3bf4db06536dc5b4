#include "client/exchange/session.h"

namespace quorate::client {

std::string Session::token() const {
  std::lock_guard lock(mutex_);
  return current_.token;
}

Seconds Session::heartbeat() const {
  std::lock_guard lock(mutex_);
  return current_.heartbeat;
}

std::string Session::renew(
    const std::string& stale,
    const std::function<protocol::SessionReply()>& open) {
  std::lock_guard one_at_a_time(renewing_);
  if (std::string now = token(); now != stale) return now;
  protocol::SessionReply fresh = open();
  std::lock_guard lock(mutex_);
  current_ = std::move(fresh);
  return current_.token;
}

}  // namespace quorate::client
