// Who is talking: a host proves its key once and gets a token for a day.
// In memory only: after a restart hosts make new sessions. Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/workunit.h"

namespace quorate {

struct Session {
  HostId host = 0;
  PublicKey key;
};

// One for each door. Challenges are not stored but sealed with a secret of this
// object; only used ones are remembered, until they expire.
class Sessions {
 public:
  explicit Sessions(const Clock& clock);

  // 64 hexadecimal digits, to be signed within a minute. Nothing is remembered
  // of it, so that asking for many fills nothing.
  std::string new_challenge() const;
  // True for a challenge given out and neither expired nor used.
  bool is_fresh(const std::string& challenge) const;
  // Uses it up, once its signature was seen to be good; false unless fresh. Of
  // two that use it at the same time one wins.
  bool use_challenge(const std::string& challenge);

  // A fresh token, 64 hexadecimal digits. Of one host the newest 8 are good.
  // Throws unavailable when a million sessions are open.
  std::string open(const Session& session);
  // The session of a token, unless it is over: 24 hours after it began.
  std::optional<Session> find(const std::string& token) const;

 private:
  void drop_expired(Instant now);

  struct Open {
    Session session;
    Instant until;
  };

  Hash seal_of(ByteView head) const;

  const Clock& clock_;
  Hash secret_;
  mutable std::mutex mutex_;
  std::set<Hash> used_challenges_;
  std::deque<std::pair<Instant, Hash>> forget_used_;  // soonest first
  std::map<std::string, Open> sessions_;
  std::map<HostId, std::deque<std::string>> tokens_of_;  // oldest first
};

}  // namespace quorate
