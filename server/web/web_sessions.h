// Who is logged in to the page for administration. In memory alone: a restart
// ends all sessions. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/crypto.h"

namespace quorate {

struct WebSession {
  std::string name;       // of a WebOperator
  std::int64_t made = 0;  // its WebOperator::made
  // What a request that changes something must say beside its cookie: no other
  // site can read it.
  FixedBytes<32> csrf;
};

class WebSessions {
 public:
  explicit WebSessions(const Clock& clock) : clock_(clock) {}

  static constexpr Seconds kIdle{15 * 60.0};
  static constexpr Seconds kLife{8 * 3600.0};
  // One more ends the one that was silent longest.
  static constexpr std::size_t kMost = 100;

  // The token for the cookie, 64 hexadecimal digits.
  std::string open(const std::string& name, std::int64_t made);
  // The session of a token, unless it is over. Counts as a sign of life.
  std::optional<WebSession> find(const std::string& token);
  void close(const std::string& token);

 private:
  struct Open {
    WebSession session;
    Instant until;  // in any case
    Instant seen;
  };
  void drop_ended(Instant now);

  const Clock& clock_;
  std::mutex mutex_;
  // By the hash of the token: how long a search takes tells nothing of it.
  std::map<Hash, Open> open_;
};

}  // namespace quorate
