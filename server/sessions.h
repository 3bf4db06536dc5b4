// Who is talking: a host proves its key once and gets a token for a day.
// In memory only: after a restart hosts make new sessions. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/workunit.h"

namespace quorate {

struct Session {
  HostId host = 0;
  PublicKey key;
};

class Sessions {
 public:
  explicit Sessions(const Clock& clock) : clock_(clock) {}

  // 64 hexadecimal digits, to be signed within a minute.
  std::string new_challenge();
  // True once for each challenge given out and not yet expired.
  bool take_challenge(const std::string& challenge);

  // A fresh token, 64 hexadecimal digits.
  std::string open(const Session& session);
  std::optional<Session> find(const std::string& token) const;

 private:
  void drop_expired(Instant now);

  struct Open {
    Session session;
    Instant until;
  };

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Instant> challenges_;
  std::map<std::string, Open> sessions_;
};

}  // namespace quorate
