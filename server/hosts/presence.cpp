#include "server/hosts/presence.h"

namespace quorate {

// Behind all that are in that tier.
void Presence::move(Entries::iterator entry, std::size_t tier) {
  if (entry->is_available) {
    --available_[entry->tier];
    ++available_[tier];
  }
  tiers_[tier].splice(tiers_[tier].end(), tiers_[entry->tier], entry);
  entry->tier = tier;
}

void Presence::hear(HostId host, Instant now) {
  auto known = by_host_.find(host);
  if (known == by_host_.end()) {
    Entries& recent = tiers_[0];
    by_host_[host] = recent.insert(recent.end(), {host, now, true, 0});
    ++available_[0];
    return;
  }
  known->second->heard = now;
  move(known->second, 0);
}

bool Presence::is_available(HostId host, Instant since) const {
  auto known = by_host_.find(host);
  return known != by_host_.end() && known->second->is_available &&
         known->second->heard >= since;
}

void Presence::let_age(std::size_t tier, Instant since) {
  Entries& entries = tiers_[tier];
  while (!entries.empty() && entries.front().heard < since) {
    move(entries.begin(), tier + 1);
  }
}

Presence::Counts Presence::count(Instant recent, Instant quiet) {
  let_age(0, recent);
  let_age(1, quiet);
  return {available_[0], available_[1], available_[2]};
}

std::size_t hosts_at_work(const Presence::Counts& counts) {
  const std::size_t least = (counts.recent + 1) / 2;
  return counts.recent > least + counts.quiet ? counts.recent - counts.quiet
                                              : least;
}

std::vector<HostId> Presence::take_silent(Instant since) {
  std::vector<HostId> silent;
  for (std::size_t tier = kTiers; tier-- > 0;) {
    Entries& entries = tiers_[tier];
    while (!entries.empty() && entries.front().heard < since) {
      const Entry& entry = entries.front();
      silent.push_back(entry.host);
      if (entry.is_available) --available_[tier];
      by_host_.erase(entry.host);
      entries.pop_front();
    }
  }
  return silent;
}

void Presence::set_available(HostId host, bool is_available) {
  auto known = by_host_.find(host);
  if (known == by_host_.end() || known->second->is_available == is_available) {
    return;
  }
  known->second->is_available = is_available;
  std::size_t& count = available_[known->second->tier];
  count = is_available ? count + 1 : count - 1;
}

std::vector<HostId> Presence::available(Instant since) const {
  std::vector<HostId> found;
  for (const Entries& entries : tiers_) {
    for (auto entry = entries.rbegin();
         entry != entries.rend() && entry->heard >= since; ++entry) {
      if (entry->is_available) found.push_back(entry->host);
    }
  }
  return found;
}

}  // namespace quorate
