#include "server/web/web_sessions.h"

#include <algorithm>

namespace quorate {

std::string WebSessions::open(const std::string& name, std::int64_t made) {
  const std::string token = secret_random<FixedBytes<32>>().hex();
  const Instant now = clock_.now();
  std::lock_guard lock(mutex_);
  drop_ended(now);
  if (open_.size() >= kMost) {
    open_.erase(std::min_element(open_.begin(), open_.end(),
                                 [](const auto& a, const auto& b) {
                                   return a.second.seen < b.second.seen;
                                 }));
  }
  open_[sha256(as_bytes(token))] = {
      {name, made, secret_random<FixedBytes<32>>()}, now + kLife, now};
  return token;
}

std::optional<WebSession> WebSessions::find(const std::string& token) {
  const Instant now = clock_.now();
  std::lock_guard lock(mutex_);
  drop_ended(now);
  const auto found = open_.find(sha256(as_bytes(token)));
  if (found == open_.end()) return std::nullopt;
  found->second.seen = now;
  return found->second.session;
}

void WebSessions::close(const std::string& token) {
  std::lock_guard lock(mutex_);
  open_.erase(sha256(as_bytes(token)));
}

void WebSessions::drop_ended(Instant now) {
  std::erase_if(open_, [now](const auto& entry) {
    return entry.second.until <= now || entry.second.seen + kIdle <= now;
  });
}

}  // namespace quorate
