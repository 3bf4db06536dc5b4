#include "server/hosts/join_limit.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr Seconds kCleanEvery{60};
const std::string kShared;

}  // namespace

Seconds wait_for_token(Instant full_at, Instant now, Seconds interval,
                       Seconds size) {
  const Instant next = std::max(full_at, now) + interval;
  return std::max(next - now - size, Seconds(0));
}

std::optional<Seconds> take_token(Instant& full_at, Instant now,
                                  Seconds interval, Seconds size) {
  const Seconds wait = wait_for_token(full_at, now, interval, size);
  if (wait > Seconds(0)) return wait;
  full_at = std::max(full_at, now) + interval;
  return std::nullopt;
}

std::optional<Seconds> JoinLimit::join(const Places& places) {
  const Instant now = clock_.now();
  make_room(now);
  // A bucket is made when something is taken of it: who has many places, but
  // no token left in the widest, fills no memory.
  Seconds wait{0};
  for (const Place& place : places) {
    const auto found = full_at_.find(key_of(place));
    if (found == full_at_.end()) continue;
    wait = std::max(
        wait, wait_for_token(found->second, now, interval_of(place), kBurst));
  }
  if (wait > Seconds(0)) return wait;
  for (const Place& place : places) {
    take_token(full_at_[key_of(place)], now, interval_of(place), kBurst);
  }
  return std::nullopt;
}

const std::string& JoinLimit::key_of(const Place& place) const {
  const bool is_room =
      full_at_.size() < most_places_ || full_at_.contains(place.key);
  return is_room ? place.key : kShared;
}

void JoinLimit::make_room(Instant now) {
  if (now < next_cleaning_) return;
  std::erase_if(full_at_,
                [now](const auto& entry) { return entry.second <= now; });
  next_cleaning_ = now + kCleanEvery;
}

}  // namespace quorate
