// How far a host is believed, and which of its work is checked. Pure; the
// server keeps the records (server/hosts/trust_book) and draws the random
// numbers. What follows from these rules is derived in docs/validation.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

struct TrustPolicy {
  // Validated units after which a device is proven; 0: none ever is by itself.
  std::uint32_t proven_after = 20;
  // Least time that this takes: units that a host does faster do not count.
  Seconds proven_time{0};
  // Share of a proven host's units that a house worker computes too.
  double spot_check = 0.05;
  // False results after which a host is banned.
  std::uint32_t ban_after = 3;
  // A quorum counts only with a proven member or a house worker.
  bool anchor = true;
};

enum class Standing { fresh, proven, watched, banned };
std::string_view name_of(Standing standing);

// What a device that was false once has to show before it is proven again.
inline constexpr std::uint64_t kWatchFactor = 3;

// validated: of the device's record. A host that the operator trusts is proven
// on every device.
Standing standing_of(const TrustPolicy& policy, HostMark mark,
                     std::uint64_t validated);

// Of a host's units that count, least time from one to the next.
Seconds between_counted(const TrustPolicy& policy);

// The mark of a host with so many false results, this one included.
HostMark mark_after_false(const TrustPolicy& policy, std::uint64_t falses);

// Whether a unit is checked. random: a secret word, drawn after the result is
// in.
bool draws_check(const TrustPolicy& policy, std::uint64_t random);

}  // namespace quorate
