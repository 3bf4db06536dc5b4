#include "server/doors/sessions.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "workunits/domain_hash.h"

namespace quorate {
namespace {

constexpr Seconds kChallengeLife{60};
constexpr Seconds kSessionLife{24 * 3600.0};
constexpr std::size_t kMaxSessions = 1'000'000;
// A host has one; copies of its folder, started by mistake, must not make each
// other ask again at every request.
constexpr std::size_t kMaxOfHost = 8;

// A challenge: 8 random bytes, when it ends (ms of the steady clock, u64),
// then the first 16 bytes of their hash under our secret.
constexpr std::size_t kHeadBytes = 16;

std::string secret_text() {
  FixedBytes<32> raw;
  fill_secret_random(raw.bytes);
  return raw.hex();
}

std::uint64_t milliseconds(Instant when) {
  return static_cast<std::uint64_t>(when.time_since_epoch().count() * 1000);
}

// Takes the same time wherever they differ: an answer's delay tells nothing.
bool is_same_secret(ByteView a, ByteView b) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

std::optional<Hash> challenge_bytes(const std::string& challenge) {
  try {
    return parse_hex<Hash>(challenge, "challenge");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Sessions::Sessions(const Clock& clock) : clock_(clock) {
  fill_secret_random(secret_.bytes);
}

// Both parts have fixed lengths and half of the hash stays secret, so that a
// plain hash of them serves.
Hash Sessions::seal_of(ByteView head) const {
  return domain_hash("quorate challenge v1", {secret_.view(), head});
}

std::string Sessions::new_challenge() const {
  ByteWriter head;
  head.put(secret_random_u64());
  head.put(milliseconds(clock_.now() + kChallengeLife));
  Bytes challenge = head.take();
  Hash seal = seal_of(challenge);
  challenge.insert(challenge.end(), seal.bytes.begin(),
                   seal.bytes.begin() + (seal.bytes.size() - kHeadBytes));
  return to_hex(challenge);
}

bool Sessions::is_fresh(const std::string& challenge) const {
  std::optional<Hash> bytes = challenge_bytes(challenge);
  if (!bytes) return false;
  ByteView head = bytes->view().first(kHeadBytes);
  ByteView seal = bytes->view().subspan(kHeadBytes);
  if (!is_same_secret(seal_of(head).view().first(seal.size()), seal)) {
    return false;
  }
  auto until = ByteReader(head.subspan(8), "challenge").get<std::uint64_t>();
  if (until <= milliseconds(clock_.now())) return false;
  std::lock_guard lock(mutex_);
  return !used_challenges_.contains(*bytes);
}

bool Sessions::use_challenge(const std::string& challenge) {
  if (!is_fresh(challenge)) return false;
  std::lock_guard lock(mutex_);
  Instant now = clock_.now();
  while (!forget_used_.empty() && forget_used_.front().first <= now) {
    used_challenges_.erase(forget_used_.front().second);
    forget_used_.pop_front();
  }
  const Hash bytes = *challenge_bytes(challenge);
  if (!used_challenges_.insert(bytes).second) return false;
  forget_used_.emplace_back(now + kChallengeLife, bytes);
  return true;
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
  std::deque<std::string>& of_host = tokens_of_[session.host];
  of_host.push_back(token);
  if (of_host.size() > kMaxOfHost) {
    sessions_.erase(of_host.front());
    of_host.pop_front();
  }
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
  std::erase_if(sessions_,
                [now](const auto& entry) { return entry.second.until <= now; });
  for (auto& [host, tokens] : tokens_of_) {
    std::erase_if(tokens, [this](const std::string& token) {
      return !sessions_.contains(token);
    });
  }
  std::erase_if(tokens_of_,
                [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace quorate
