#include "server/rests.h"

#include <algorithm>
#include <cmath>

namespace quorate {
namespace {

constexpr std::uint32_t kFree = 2;
constexpr Seconds kLongest{300};

}  // namespace

Seconds rest_after(std::uint32_t failures) {
  if (failures <= kFree) return Seconds(0);
  return std::min(
      kLongest, Seconds(std::exp2(static_cast<double>(failures - kFree - 1))));
}

void Rests::failed(HostId host, Instant now) {
  Rest& rest = rests_[host];
  ++rest.failures;
  rest.until = now + rest_after(rest.failures);
}

bool Rests::is_resting(HostId host, Instant now) const {
  auto found = rests_.find(host);
  return found != rests_.end() && now < found->second.until;
}

}  // namespace quorate
