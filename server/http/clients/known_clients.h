// Addresses from which somebody has lately proved to be a host: when strangers
// take nearly all connections, some are kept for these. Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/clock.h"

namespace quorate {

class KnownClients {
 public:
  // An address is known for one to two of these after its last note().
  static constexpr Seconds kSpan{12 * 3600.0};
  // Known at most; beyond that the oldest half is forgotten.
  static constexpr std::size_t kMost = 100'000;

  explicit KnownClients(const Clock& clock) : clock_(clock) {}

  // address: as in Request::remote_address; its narrowest place is known.
  void note(const std::string& address);
  bool contains(const std::string& address) const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  // Two generations: the newer becomes the older when its span is over.
  std::unordered_set<std::string> newer_;
  std::unordered_set<std::string> older_;
  Instant turn_{};
};

}  // namespace quorate
