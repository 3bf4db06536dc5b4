// IP addresses and blocks of them, as values.
//
// The room server/http/clients says who a client is: its address, behind a
// proxy or not, and the keys of the limits that it shares with its neighbours.
// All of it is pure and owns nothing; it may include base/ only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quorate {

// An IPv4 address is kept as the IPv6 address that stands for it
// (::ffff:192.0.2.1), so that both ways to write it are one address.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const IpAddress&) const = default;
};

bool is_v4(const IpAddress& address);
// "192.0.2.1", "2001:db8::1".
std::string text_of(const IpAddress& address);
// nullopt for what is no address, and for one with a port, brackets or a zone.
std::optional<IpAddress> parse_ip(std::string_view text);

// The addresses that share their first bits.
struct IpBlock {
  IpAddress first;
  unsigned bits = 128;  // of the 16 bytes: 96 more than people write for IPv4
};

// "192.0.2.1", "10.0.0.0/8", "2001:db8::/32". nullopt for anything else, and
// for a block of every address: nobody means the whole internet.
std::optional<IpBlock> parse_ip_block(std::string_view text);
bool contains(const IpBlock& block, const IpAddress& address);
bool contains(const std::vector<IpBlock>& blocks, const IpAddress& address);

}  // namespace quorate
