#include "server/hosts/rests.h"

#include "base/retry.h"

namespace quorate {
namespace {

constexpr std::uint32_t kFree = 2;
constexpr Seconds kShortest{1};
constexpr Seconds kLongest{300};

}  // namespace

Seconds rest_after(std::uint32_t failures, HostId host) {
  if (failures <= kFree) return Seconds(0);
  return retry_delay(failures - kFree, static_cast<std::uint64_t>(host),
                     kShortest, kLongest);
}

void Rests::failed(HostId host, Instant now) {
  Rest& rest = rests_[host];
  ++rest.failures;
  rest.until = now + rest_after(rest.failures, host);
}

bool Rests::is_resting(HostId host, Instant now) const {
  auto found = rests_.find(host);
  return found != rests_.end() && now < found->second.until;
}

}  // namespace quorate
