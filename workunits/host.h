// Users and their machines, in BOINC's words. Data only; who changes them when
// is decided in server/ and validator/.
#pragma once

#include <cstdint>
#include <string>

#include "base/crypto.h"

namespace quorate {

using UserId = std::int64_t;
using HostId = std::int64_t;
using Millis = std::int64_t;  // since 1970

// Credit a day, of late: what was granted a week ago counts half. As of the
// moment `at`; see server/hosts/credit.
struct RecentCredit {
  double per_day = 0;
  Millis at = 0;

  bool operator==(const RecentCredit&) const = default;
};

struct User {
  UserId id = 0;
  PublicKey key;
  std::string name;
  double credit = 0;
  Millis created = 0;
  RecentCredit recent;
  std::string ban_reason;  // in words; empty unless the account is banned
  // The operator gave it this name: what its client says is not taken.
  bool has_given_name = false;
  // When its name and its machines' went; 0: it is there. Only its key, its
  // credit and its hosts' keys and records stay.
  Millis deleted = 0;
};

// The user that house workers belong to.
inline constexpr UserId kHouseUser = 1;

// What is known of a host beside its record; see validator/trust.
enum class HostMark {
  none = 0,
  trusted = 1,  // the operator vouches for it
  watched = 2,  // a result of it was false
  banned = 3,   // gets no work, and none of its reports count
};

struct Host {
  HostId id = 0;
  UserId user_id = 0;
  PublicKey key;
  std::string name;  // for everybody only if its owner chose it: public_name
  bool has_chosen_name = false;
  std::string door;  // by which it comes: see below
  std::string device;
  std::string platform;    // "linux-x86_64, 8 cores, 15 GiB"
  double speed_flops = 0;  // measured from its results; 0: unknown
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  std::uint64_t errors = 0;  // client errors and missed leases
  double credit = 0;
  Millis created = 0;
  Millis last_seen = 0;
  HostMark mark = HostMark::none;
  std::string mark_reason;          // in words
  std::uint64_t false_results = 0;  // since it joined or was pardoned
  RecentCredit recent;
};

// "host-1a2b3c": tells the hosts of a table apart and says nothing of anybody.
inline std::string neutral_host_name(const PublicKey& key) {
  return "host-" + key.hex().substr(0, 6);
}

// What everybody may read. A machine's own name may be its owner's, or tell
// where it stands. The server's own workers have nothing to hide.
inline std::string public_name(const Host& host) {
  const bool is_open = host.has_chosen_name || host.user_id == kHouseUser;
  return is_open ? host.name : neutral_host_name(host.key);
}

// "linux-x86_64": without cores and memory, which tell one machine of many.
inline std::string public_platform(const Host& host) {
  return host.platform.substr(0, host.platform.find(','));
}

inline constexpr const char* kNativeDoor = "native";
inline constexpr const char* kBoincDoor = "boinc";  // a stock BOINC client
inline constexpr const char* kHouseDoor = "house";

// What one device of a host, with one version of the arithmetic, has shown.
struct DeviceRecord {
  HostId host = 0;
  std::string device;  // as result headers name it
  std::uint32_t arithmetic = 0;
  // Results that somebody trusted computed too, since the last false one.
  std::uint64_t validated = 0;
};

}  // namespace quorate
