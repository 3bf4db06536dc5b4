#include "server/sessions.h"

#include "base/error.h"

namespace quorate {
namespace {

constexpr Seconds kChallengeLife{60};
constexpr Seconds kSessionLife{24 * 3600.0};
// Bounds what a flood of requests can fill.
constexpr std::size_t kMaxChallenges = 100'000;
constexpr std::size_t kMaxSessions = 1'000'000;

std::string secret_text() {
  FixedBytes<32> raw;
  fill_secret_random(raw.bytes);
  return raw.hex();
}

}  // namespace

std::string Sessions::new_challenge() {
  std::lock_guard lock(mutex_);
  Instant now = clock_.now();
  if (challenges_.size() >= kMaxChallenges) drop_expired(now);
  if (challenges_.size() >= kMaxChallenges) {
    throw Error(ErrorKind::unavailable,
                "new session: too many are being opened: try again later");
  }
  std::string challenge = secret_text();
  challenges_[challenge] = now + kChallengeLife;
  return challenge;
}

bool Sessions::take_challenge(const std::string& challenge) {
  std::lock_guard lock(mutex_);
  auto found = challenges_.find(challenge);
  if (found == challenges_.end()) return false;
  bool is_fresh = found->second > clock_.now();
  challenges_.erase(found);
  return is_fresh;
}

std::string Sessions::open(const Session& session) {
  std::lock_guard lock(mutex_);
  Instant now = clock_.now();
  if (sessions_.size() >= kMaxSessions) drop_expired(now);
  if (sessions_.size() >= kMaxSessions) {
    throw Error(ErrorKind::unavailable,
                "new session: too many are open: try again later");
  }
  std::string token = secret_text();
  sessions_[token] = {session, now + kSessionLife};
  return token;
}

std::optional<Session> Sessions::find(const std::string& token) const {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(token);
  if (found == sessions_.end() || found->second.until <= clock_.now()) {
    return std::nullopt;
  }
  return found->second.session;
}

void Sessions::drop_expired(Instant now) {
  std::erase_if(challenges_,
                [now](const auto& entry) { return entry.second <= now; });
  std::erase_if(sessions_,
                [now](const auto& entry) { return entry.second.until <= now; });
}

}  // namespace quorate
