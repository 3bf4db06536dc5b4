#include "server/web/login_limit.h"

#include <algorithm>
#include <cmath>

namespace quorate {
namespace {

constexpr std::uint32_t kFree = 3;
constexpr Seconds kForgetEvery{60};
const std::string kShared;

}  // namespace

Seconds wait_after(std::uint32_t failures, Seconds most) {
  if (failures < kFree) return Seconds(0);
  constexpr std::uint32_t kMostDoublings = 30;
  const std::uint32_t doublings = std::min(failures - kFree, kMostDoublings);
  return std::min(Seconds(std::exp2(doublings)), most);
}

Seconds LoginLimit::wait_of(const std::string& key, std::uint32_t times) const {
  std::lock_guard lock(mutex_);
  auto found = counts_.find(key);
  if (found == counts_.end()) {
    // It may be one of those that share a count.
    if (counts_.size() < kMostKeys) return Seconds(0);
    found = counts_.find(kShared);
    if (found == counts_.end()) return Seconds(0);
  }
  const Instant until =
      found->second.last + wait_after(found->second.failures / times, most_);
  return std::max(Seconds(0), until - clock_.now());
}

// Whoever fails cannot have it done more often.
void LoginLimit::forget_old(Instant now) {
  if (now < next_forgetting_) return;
  next_forgetting_ = now + kForgetEvery;
  std::erase_if(counts_, [now](const auto& entry) {
    return entry.second.last + kForgottenAfter <= now;
  });
}

std::size_t LoginLimit::keys_known() const {
  std::lock_guard lock(mutex_);
  return counts_.size();
}

void LoginLimit::failed(const std::string& key) {
  std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  forget_old(now);
  const bool is_room = counts_.size() < kMostKeys || counts_.contains(key);
  Count& count = counts_[is_room ? key : kShared];
  if (count.last + kForgottenAfter <= now) count.failures = 0;
  ++count.failures;
  count.last = now;
}

void LoginLimit::succeeded(const std::string& key) {
  std::lock_guard lock(mutex_);
  counts_.erase(key);
}

}  // namespace quorate
