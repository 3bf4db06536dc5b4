#include "server/units/leases.h"

#include <algorithm>

namespace quorate {

void Leases::set(ResultId result, const Lease& lease) {
  end(result);
  leases_[result] = lease;
  by_time_.emplace(lease.until, result);
}

void Leases::grant(ResultId result, Instant now, Seconds lease) {
  set(result, {now, now + lease});
}

void Leases::renew(ResultId result, Instant now, Seconds lease, Seconds most) {
  auto found = leases_.find(result);
  if (found == leases_.end()) return;
  Lease renewed = found->second;
  renewed.until = std::min(now + lease, renewed.granted + most);
  set(result, renewed);
}

void Leases::end(ResultId result) {
  auto found = leases_.find(result);
  if (found == leases_.end()) return;
  by_time_.erase({found->second.until, result});
  leases_.erase(found);
}

bool Leases::becomes_slow(ResultId result, Instant now, Seconds usual) {
  auto found = leases_.find(result);
  if (found == leases_.end() || found->second.is_slow) return false;
  found->second.is_slow = now - found->second.granted > usual;
  return found->second.is_slow;
}

bool Leases::is_slow(ResultId result) const {
  auto found = leases_.find(result);
  return found != leases_.end() && found->second.is_slow;
}

std::vector<ResultId> Leases::take_expired(Instant now) {
  std::vector<ResultId> expired;
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    expired.push_back(by_time_.begin()->second);
    end(expired.back());
  }
  // The oldest results first, whichever lease ended first.
  std::sort(expired.begin(), expired.end());
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
