#include "server/presence.h"

namespace quorate {

void Presence::hear(HostId host, Instant now) {
  auto known = by_host_.find(host);
  if (known == by_host_.end()) {
    by_host_[host] = entries_.insert(entries_.end(), {host, now, true});
    ++available_;
    return;
  }
  known->second->heard = now;
  entries_.splice(entries_.end(), entries_, known->second);
}

bool Presence::is_available(HostId host, Instant since) const {
  auto known = by_host_.find(host);
  return known != by_host_.end() && known->second->is_available &&
         known->second->heard >= since;
}

std::vector<HostId> Presence::take_silent(Instant since) {
  std::vector<HostId> silent;
  while (!entries_.empty() && entries_.front().heard < since) {
    const Entry& entry = entries_.front();
    silent.push_back(entry.host);
    if (entry.is_available) --available_;
    by_host_.erase(entry.host);
    entries_.pop_front();
  }
  return silent;
}

void Presence::set_available(HostId host, bool is_available) {
  auto known = by_host_.find(host);
  if (known == by_host_.end() || known->second->is_available == is_available) {
    return;
  }
  known->second->is_available = is_available;
  available_ = is_available ? available_ + 1 : available_ - 1;
}

std::vector<HostId> Presence::available(Instant since) const {
  std::vector<HostId> found;
  for (auto entry = entries_.rbegin();
       entry != entries_.rend() && entry->heard >= since; ++entry) {
    if (entry->is_available) found.push_back(entry->host);
  }
  return found;
}

}  // namespace quorate
