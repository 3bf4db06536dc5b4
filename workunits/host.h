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
  std::string name;
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
