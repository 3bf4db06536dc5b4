// How long somebody waits who failed to log in, by where they come from and by
// whom they say they are. Thread-safe.
//
// Rejected: locking an account after some failures. Whoever knows a name could
// then lock its owner out; a wait that ends does that for half a minute.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"

namespace quorate {

// After so many failures in a row: nothing for the first three, then a second,
// doubled each time, up to `most`.
Seconds wait_after(std::uint32_t failures, Seconds most);

class LoginLimit {
 public:
  // most: the longest wait.
  LoginLimit(Seconds most, const Clock& clock) : most_(most), clock_(clock) {}

  static constexpr Seconds kForgottenAfter{3600};
  // Beyond that, all further keys share one count.
  static constexpr std::size_t kMostKeys = 10'000;

  // Until `key` may try again; 0: now. times: so many failures count as one:
  // for the wider places of an address (Place::times).
  Seconds wait_of(const std::string& key, std::uint32_t times = 1) const;
  void failed(const std::string& key);
  void succeeded(const std::string& key);
  // Those that counted kForgottenAfter ago go when the next one fails.
  std::size_t keys_known() const;

 private:
  struct Count {
    std::uint32_t failures = 0;
    Instant last{};
  };
  void forget_old(Instant now);

  Seconds most_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Count> counts_;
  Instant next_forgetting_{};
};

}  // namespace quorate
