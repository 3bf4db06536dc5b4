#include "server/hosts/sites.h"

#include <algorithm>

namespace quorate {

void Sites::note(HostId host, const Hash& site, std::string contact,
                 Instant now) {
  const auto known = members_.find(host);
  const bool has_moved = known != members_.end() && known->second.site != site;
  if (has_moved) {
    const auto left = hosts_.find(known->second.site);
    std::erase(left->second, host);
    if (left->second.empty()) hosts_.erase(left);
    members_.erase(known);
  }
  if (site.is_zero()) return;
  if (!members_.contains(host)) hosts_[site].push_back(host);
  members_[host] = {site, std::move(contact), now};
  for (HostId mate : hosts_.at(site)) {
    Member& member = members_.at(mate);
    if (now - member.heard >= kForgotten) member.contact.clear();
  }
}

std::vector<std::string> Sites::mates_of(HostId host, Instant now,
                                         std::size_t most) const {
  const auto self = members_.find(host);
  if (self == members_.end()) return {};
  std::vector<const Member*> mates;
  for (HostId other : hosts_.at(self->second.site)) {
    const Member& mate = members_.at(other);
    const bool is_there = now - mate.heard < kForgotten;
    if (other != host && is_there && !mate.contact.empty()) {
      mates.push_back(&mate);
    }
  }
  std::sort(mates.begin(), mates.end(), [](const Member* a, const Member* b) {
    return a->heard > b->heard;
  });
  if (mates.size() > most) mates.resize(most);
  std::vector<std::string> contacts;
  contacts.reserve(mates.size());
  for (const Member* mate : mates) contacts.push_back(mate->contact);
  return contacts;
}

bool Sites::are_mates(HostId a, HostId b) const {
  const auto first = members_.find(a);
  const auto second = members_.find(b);
  return first != members_.end() && second != members_.end() &&
         first->second.site == second->second.site;
}

}  // namespace quorate
