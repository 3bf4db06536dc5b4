#include "server/http/clients/known_clients.h"

#include <utility>

#include "server/http/clients/places.h"

namespace quorate {

void KnownClients::note(const std::string& address) {
  const Places places = places_of(address);
  if (places.empty()) return;
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (now >= turn_ || newer_.size() >= kMost / 2) {
    // After a silence of both spans the newer ones are old as well.
    const bool is_long_ago = now >= turn_ + kSpan;
    older_ = is_long_ago ? std::unordered_set<std::string>()
                         : std::exchange(newer_, {});
    newer_.clear();
    turn_ = now + kSpan;
  }
  newer_.insert(places.front().key);
}

bool KnownClients::contains(const std::string& address) const {
  const Places places = places_of(address);
  if (places.empty()) return false;
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  const std::string& key = places.front().key;
  if (now < turn_) return newer_.contains(key) || older_.contains(key);
  return now < turn_ + kSpan && newer_.contains(key);
}

}  // namespace quorate
