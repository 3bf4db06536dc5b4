#include "server/hosts/join_limit.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr Seconds kCleanEvery{60};

}  // namespace

std::optional<Seconds> take_token(Instant& full_at, Instant now,
                                  Seconds interval, Seconds size) {
  Instant next = std::max(full_at, now) + interval;
  if (next - now > size) return next - now - size;
  full_at = next;
  return std::nullopt;
}

std::optional<Seconds> JoinLimit::join(const std::string& place) {
  Instant now = clock_.now();
  return take_token(bucket_of(place, now), now, interval_, kBurst);
}

Instant& JoinLimit::bucket_of(const std::string& place, Instant now) {
  if (full_at_.size() >= kMostPlaces && now >= next_cleaning_) {
    std::erase_if(full_at_,
                  [now](const auto& entry) { return entry.second <= now; });
    next_cleaning_ = now + kCleanEvery;
  }
  bool is_room = full_at_.size() < kMostPlaces || full_at_.contains(place);
  return full_at_[is_room ? place : ""];
}

}  // namespace quorate
