#include "server/http/clients/places.h"

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "server/http/clients/ip_address.h"

namespace quorate {
namespace {

constexpr std::uint32_t kTimesOf56 = 4;
constexpr std::uint32_t kTimesOf48 = 16;

using V4 = std::span<const std::uint8_t, 4>;
using V6 = std::span<const std::uint8_t, 16>;

V4 v4_of(const IpAddress& address) {
  return std::span(address.bytes).last<4>();
}

bool is_local(V4 v4) {
  return v4[0] == 127 || v4[0] == 10 || (v4[0] == 192 && v4[1] == 168) ||
         (v4[0] == 172 && v4[1] / 16 == 1) || (v4[0] == 169 && v4[1] == 254);
}

bool is_local(V6 v6) {
  static constexpr IpAddress kLoopback{
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  const bool is_loopback =
      std::equal(v6.begin(), v6.end(), kLoopback.bytes.begin());
  const bool is_link_local = v6[0] == 0xfe && (v6[1] & 0xc0) == 0x80;
  return is_loopback || is_link_local ||
         (v6[0] & 0xfe) == 0xfc;  // unique local, RFC 4193
}

}  // namespace

Places places_of(const std::string& address) {
  if (address.empty()) return {};
  const auto ip = parse_ip(address);
  if (!ip) return {{address}};  // "unix"
  if (is_v4(*ip)) return {{text_of(*ip)}};
  const auto first = [&](std::size_t bytes) {
    return to_hex(ByteView(ip->bytes).first(bytes));
  };
  return {{first(8)}, {first(7), kTimesOf56}, {first(6), kTimesOf48}};
}

std::string block_of(const std::string& address) {
  const auto ip = parse_ip(address);
  if (!ip) return "";
  if (is_v4(*ip)) {
    const V4 v4 = v4_of(*ip);
    return is_local(v4) ? "" : to_hex(v4.first(3));
  }
  const V6 v6(ip->bytes);
  return is_local(v6) ? "" : to_hex(v6.first(6));
}

}  // namespace quorate
