#include "server/leases.h"

namespace quorate {

std::vector<ResultId> Leases::take_expired(Instant now) {
  std::vector<ResultId> expired;
  for (const auto& [result, until] : until_) {
    if (until <= now) expired.push_back(result);
  }
  for (ResultId result : expired) until_.erase(result);
  return expired;
}

std::optional<HostId> Reservations::host(ResultId result) const {
  auto found = kept_.find(result);
  if (found == kept_.end()) return std::nullopt;
  return found->second.host;
}

std::vector<ResultId> Reservations::take_expired(Instant now) {
  std::vector<ResultId> expired;
  for (const auto& [result, kept] : kept_) {
    if (kept.until <= now) expired.push_back(result);
  }
  for (ResultId result : expired) kept_.erase(result);
  return expired;
}

}  // namespace quorate
