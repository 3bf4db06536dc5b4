#include "server/leases.h"

#include <algorithm>

namespace quorate {

void Leases::grant(ResultId result, Instant now, Seconds lease) {
  leases_[result] = {now, now + lease};
  none_before_ = std::min(none_before_, now + lease);
}

void Leases::renew(ResultId result, Instant now, Seconds lease, Seconds most) {
  auto found = leases_.find(result);
  if (found == leases_.end()) return;
  found->second.until = std::min(now + lease, found->second.granted + most);
  none_before_ = std::min(none_before_, found->second.until);
}

std::vector<ResultId> Leases::take_expired(Instant now) {
  std::vector<ResultId> expired;
  if (now < none_before_) return expired;
  none_before_ = Instant::max();
  for (const auto& [result, lease] : leases_) {
    if (lease.until <= now) {
      expired.push_back(result);
    } else {
      none_before_ = std::min(none_before_, lease.until);
    }
  }
  for (ResultId result : expired) leases_.erase(result);
  return expired;
}

void Reservations::keep(ResultId result, HostId host, Instant until) {
  end(result);
  kept_[result] = {host, until};
  by_host_[host].insert(result);
  if (until != Instant::max()) by_time_.emplace(until, result);
}

void Reservations::hold(ResultId result, Instant until) {
  keep(result, kNobody, until);
}

void Reservations::release(ResultId result) {
  keep(result, kAnybody, Instant::max());
}

void Reservations::end(ResultId result) {
  auto found = kept_.find(result);
  if (found == kept_.end()) return;
  auto host = by_host_.find(found->second.host);
  host->second.erase(result);
  if (host->second.empty()) by_host_.erase(host);
  by_time_.erase({found->second.until, result});
  kept_.erase(found);
}

std::optional<HostId> Reservations::host(ResultId result) const {
  auto found = kept_.find(result);
  const bool is_kept = found != kept_.end() && found->second.host > 0;
  return is_kept ? std::optional(found->second.host) : std::nullopt;
}

const std::set<ResultId>& Reservations::kept_for(HostId host) const {
  static const std::set<ResultId> kNone;
  auto found = by_host_.find(host);
  return found == by_host_.end() ? kNone : found->second;
}

std::vector<Reservations::Expired> Reservations::take_expired(Instant now) {
  std::vector<Expired> expired;
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const ResultId result = by_time_.begin()->second;
    expired.push_back({result, kept_.at(result).host != kNobody});
    end(result);
  }
  // Whose unit is older is drawn for first.
  std::sort(
      expired.begin(), expired.end(),
      [](const Expired& a, const Expired& b) { return a.result < b.result; });
  return expired;
}

}  // namespace quorate
