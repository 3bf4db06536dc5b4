// What door and mates do, for people: the member "site" of activity.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quorate::client {

struct MateStatus {
  std::string name;         // of its host
  std::string address;      // at which it answered last, else its first one
  std::uint64_t bytes = 0;  // that it gave
  std::string state;        // "ok", "resting", "excluded"
  std::string why;          // it rests or is excluded
};

// Bytes and requests since the agent's start.
struct SiteActivity {
  std::string id;  // of the site, in hexadecimal digits
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
  std::uint64_t bytes_given = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t refused = 0;  // requests of strangers
  std::vector<MateStatus> mates;
};

std::string site_activity_json(const SiteActivity& activity);
// Throws corrupt.
SiteActivity parse_site_activity(std::string_view json);

}  // namespace quorate::client
