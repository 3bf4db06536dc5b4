#include "client/site/own_addresses.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <ifaddrs.h>
#include <net/if.h>

namespace quorate::client {
namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

bool is_link_local(const in_addr& address) {
  return (ntohl(address.s_addr) >> 16) == 0xa9fe;  // 169.254.0.0/16
}

std::optional<std::string> text_of_interface(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    if (is_link_local(v4.sin_addr)) return std::nullopt;
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return text;
  }
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) return std::nullopt;
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return text;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeInterfaces> list(first);
  std::vector<std::string> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0;
    const bool is_outside = (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (one->ifa_addr == nullptr || !is_up || !is_outside) continue;
    if (auto text = text_of_interface(*one->ifa_addr)) found.push_back(*text);
  }
  std::stable_partition(found.begin(), found.end(), [](const auto& text) {
    return text.find(':') == std::string::npos;
  });
  return found;
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" ||
         address.rfind("127.", 0) == 0;
}

}  // namespace quorate::client
