// The keys of everything that is limited by address: connections, new accounts
// and hosts, lookups, logins that failed. This is the one place that decides
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate {

// One of the places in which an address is; each has a budget of its own, and
// what comes from the address is counted in all of them.
struct Place {
  std::string key;
  // The budget of this place: so many times that of one address.
  std::uint32_t times = 1;
};

// The narrowest first. Empty: there is no limit.
using Places = std::vector<Place>;

// Of an address as in Request::remote_address. An IPv4 address is one place. An
// IPv6 address is in three: one household has a /64 at least, many have a /56,
// and anybody rents a /48 for little, which has 65,536 of the first and must
// not have as many budgets. A university has a /48, too, so the wider places
// have more: 4 times for a /56, 16 times for a /48.
// Rejected: the /48 alone with the budget of one address. Some providers give
// out each /64 of one to another household.
Places places_of(const std::string& address);

// The block of an address that one person easily has the whole of: the /24 of
// an IPv4 address, the /48 of an IPv6 address. Empty for those that many
// strangers, or machines of one room, have: loopback, private, link-local.
std::string block_of(const std::string& address);

}  // namespace quorate
