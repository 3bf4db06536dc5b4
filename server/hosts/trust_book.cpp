#include "server/hosts/trust_book.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "workunits/device_text.h"

namespace quorate {
namespace {

// A host may name its devices as it likes; no machine has more.
constexpr std::size_t kMostDevices = 64;

}  // namespace

TrustPolicy trust_policy(const ServerSettings& settings) {
  return {.proven_after = settings.trust_proven_after,
          .proven_time = settings.trust_proven_time,
          .spot_check = settings.trust_spot_check,
          .ban_after = settings.trust_ban_after,
          .anchor = settings.trust_anchor};
}

TrustBook::TrustBook(Store& store, const TrustPolicy& policy)
    : store_(store), policy_(policy) {
  for (const DeviceRecord& record : store.device_records()) {
    records_[record.host][{record.device, record.arithmetic}] =
        record.validated;
  }
}

Standing TrustBook::standing(const Host& host,
                             const ResultHeader& header) const {
  if (host.user_id == kHouseUser) return Standing::proven;
  std::uint64_t validated = 0;
  auto of_host = records_.find(host.id);
  if (of_host != records_.end()) {
    validated =
        validated_on(of_host->second, {header.device, header.arithmetic});
  }
  return standing_of(policy_, host.mark, validated);
}

std::uint64_t TrustBook::validated_on(const Devices& devices,
                                      const Device& device) {
  auto found = devices.find(device);
  if (found != devices.end()) return found->second;
  std::uint64_t most = 0;
  for (const auto& [other, validated] : devices) {
    const bool is_same =
        other.second == device.second &&
        without_driver(other.first) == without_driver(device.first);
    if (is_same) most = std::max(most, validated);
  }
  return most / 2;
}

Standing TrustBook::standing(const Host& host) const {
  if (host.user_id == kHouseUser) return Standing::proven;
  return standing_of(policy_, host.mark, validated(host.id));
}

std::uint64_t TrustBook::validated(HostId host) const {
  auto of_host = records_.find(host);
  if (of_host == records_.end()) return 0;
  std::uint64_t most = 0;
  for (const auto& [device, validated] : of_host->second) {
    if (device.second == kArithmeticVersion) most = std::max(most, validated);
  }
  return most;
}

void TrustBook::count(HostId host, const ResultHeader& header, Instant now) {
  const auto last = last_counted_.find(host);
  if (last != last_counted_.end() &&
      now - last->second < between_counted(policy_)) {
    return;
  }
  Devices& devices = records_[host];
  Device device{header.device, header.arithmetic};
  if (devices.size() >= kMostDevices && !devices.contains(device)) return;
  devices[device] = validated_on(devices, device) + 1;
  dirty_.insert(host);
  last_counted_[host] = now;
}

void TrustBook::reset(HostId host) {
  for (auto& [device, validated] : records_[host]) validated = 0;
  dirty_.insert(host);
}

void TrustBook::forget(HostId host) {
  records_.erase(host);
  last_counted_.erase(host);
  dirty_.erase(host);
}

void TrustBook::flush() {
  std::vector<DeviceRecord> rows;
  for (HostId host : dirty_) {
    for (const auto& [device, validated] : records_[host]) {
      rows.push_back({host, device.first, device.second, validated});
    }
  }
  if (!rows.empty()) store_.replace_device_records(rows);
  dirty_.clear();
}

}  // namespace quorate
