#include "validator/trust.h"

#include <algorithm>

namespace quorate {

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::fresh:
      return "new";
    case Standing::proven:
      return "proven";
    case Standing::watched:
      return "watched";
    case Standing::banned:
      return "banned";
  }
  return "unknown";
}

Standing standing_of(const TrustPolicy& policy, HostMark mark,
                     std::uint64_t validated) {
  if (mark == HostMark::banned) return Standing::banned;
  if (mark == HostMark::trusted) return Standing::proven;
  const bool is_watched = mark == HostMark::watched;
  const std::uint64_t needed =
      policy.proven_after * (is_watched ? kWatchFactor : 1);
  if (needed > 0 && validated >= needed) return Standing::proven;
  return is_watched ? Standing::watched : Standing::fresh;
}

Seconds between_counted(const TrustPolicy& policy) {
  return policy.proven_time / std::max(1U, policy.proven_after);
}

HostMark mark_after_false(const TrustPolicy& policy, std::uint64_t falses) {
  return falses >= policy.ban_after ? HostMark::banned : HostMark::watched;
}

bool draws_check(const TrustPolicy& policy, std::uint64_t random) {
  // The upper 53 bits are a double in [0, 1) without rounding.
  return static_cast<double>(random >> 11) * 0x1p-53 < policy.spot_check;
}

}  // namespace quorate
