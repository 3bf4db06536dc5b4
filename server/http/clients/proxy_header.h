// The header with which a proxy that only passes bytes on says who its client
// is: the PROXY protocol, versions 1 and 2.
// https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt
//
//   version 1   "PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n", TCP6 alike, or
//               "PROXY UNKNOWN" ... "\r\n"; 107 bytes at most
//   version 2   12 bytes "\r\n\r\n\0\r\nQUIT\n"
//               u8   2 << 4 | command: 0 LOCAL, 1 PROXY
//               u8   family << 4 | transport: 0x11 TCP over IPv4, 0x21 over
//                    IPv6; others have no address for us
//               u16  how many bytes follow, the higher byte first: at most 2048
//                    here
//               source, destination: 4 or 16 bytes each
//               ports: u16 each
//               more, which we skip
//
// What follows the header belongs to TLS or HTTP, which read from the socket
// themselves: so never a byte more may be read than wanted() says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "server/http/clients/ip_address.h"

namespace quorate {

class ProxyHeader {
 public:
  static constexpr std::size_t kMostLine = 107;
  static constexpr std::size_t kMostAddresses = 2048;

  // How many bytes are still to come at least, all of them of the header; 0:
  // it is whole.
  std::size_t wanted() const { return wanted_; }
  // At most wanted() bytes. Throws corrupt once they cannot begin a header; the
  // header is then of no more use.
  void take(ByteView bytes);

  // Of a whole header: the client. nullopt if the proxy speaks for itself (a
  // check of its own), or does not know.
  const std::optional<IpAddress>& client() const { return client_; }

 private:
  void take_line();
  void take_binary();

  std::string bytes_;
  std::size_t wanted_ = 15;  // the shortest header of both versions
  std::optional<IpAddress> client_;
};

}  // namespace quorate
