#include "server/http/clients/ip_address.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

namespace quorate {
namespace {

constexpr unsigned kV4Bits = 96;  // those in front of an IPv4 address
constexpr std::array<std::uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0,    0,
                                                    0, 0, 0, 0, 0xff, 0xff};

// Digits alone: no sign, no space.
std::optional<unsigned> parse_bits(std::string_view text) {
  unsigned bits = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, bits);
  if (error != std::errc() || end != last || text.empty()) return {};
  return bits;
}

}  // namespace

bool is_v4(const IpAddress& address) {
  return std::equal(kV4Prefix.begin(), kV4Prefix.end(), address.bytes.begin());
}

std::string text_of(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_v4(address)) {
    ::inet_ntop(AF_INET, &address.bytes[kV4Prefix.size()], text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN) return {};
  // inet_pton wants an end that a view may lack.
  if (text.find('\0') != text.npos) return {};
  const std::string ended(text);
  IpAddress address;
  if (::inet_pton(AF_INET6, ended.c_str(), address.bytes.data()) == 1) {
    return address;
  }
  std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.bytes.begin());
  if (::inet_pton(AF_INET, ended.c_str(), &address.bytes[kV4Prefix.size()]) !=
      1) {
    return {};
  }
  return address;
}

std::optional<IpBlock> parse_ip_block(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto first = parse_ip(text.substr(0, slash));
  if (!first) return {};
  if (slash == text.npos) return IpBlock{*first, 128};
  auto bits = parse_bits(text.substr(slash + 1));
  if (!bits || *bits > 128) return {};
  const bool is_written_as_v4 = text.find(':') == text.npos;
  if (is_written_as_v4) *bits += kV4Bits;
  const unsigned least = is_v4(*first) ? kV4Bits + 1 : 1;
  if (*bits < least || *bits > 128) return {};
  return IpBlock{*first, *bits};
}

bool contains(const IpBlock& block, const IpAddress& address) {
  // ::/80 is no block of IPv4 addresses, although we write them so.
  if (is_v4(block.first) != is_v4(address)) return false;
  const std::size_t whole = block.bits / 8;
  const unsigned rest = block.bits % 8;
  const auto end =
      block.first.bytes.begin() + static_cast<std::ptrdiff_t>(whole);
  if (!std::equal(block.first.bytes.begin(), end, address.bytes.begin())) {
    return false;
  }
  return rest == 0 ||
         ((block.first.bytes[whole] ^ address.bytes[whole]) >> (8 - rest)) == 0;
}

bool contains(const std::vector<IpBlock>& blocks, const IpAddress& address) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const IpBlock& block) {
    return contains(block, address);
  });
}

}  // namespace quorate
