#include "server/settings/address.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, port);
  if (error != std::errc() || end != last || text.empty()) return {};
  return port;
}

bool is_every_address(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

// The parts of a URL; the host without brackets.
struct UrlParts {
  std::string scheme;
  std::string host;
  std::optional<std::string> port;
};

UrlParts split(const std::string& url) {
  UrlParts parts;
  std::size_t mark = url.find("://");
  if (mark == url.npos) return parts;
  parts.scheme = url.substr(0, mark);
  std::string rest = url.substr(mark + 3);
  rest = rest.substr(0, rest.find('/'));
  std::size_t host_end = rest.find(':');
  if (rest.starts_with('[')) {
    host_end = rest.find(']');
    if (host_end == rest.npos) return parts;
    parts.host = rest.substr(1, host_end - 1);
    ++host_end;
  } else {
    parts.host = rest.substr(0, host_end);
  }
  if (host_end < rest.size()) parts.port = rest.substr(host_end);
  return parts;
}

bool is_good_port(const std::string& text) {
  if (!text.starts_with(':')) return false;
  return parse_port(std::string_view(text).substr(1)).value_or(0) != 0;
}

// Characters that a person, a shell and a URL take as they are; no user, query
// or fingerprint.
bool is_plain(const std::string& url) {
  constexpr std::string_view kOthers = "-._~:/[]%+,";
  return std::all_of(url.begin(), url.end(), [&](char c) {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') ||
           kOthers.find(c) != kOthers.npos;
  });
}

}  // namespace

Endpoint parse_endpoint(const std::string& text) {
  std::size_t colon = text.rfind(':');
  std::optional<std::uint16_t> port;
  if (colon != text.npos) {
    port = parse_port(std::string_view(text).substr(colon + 1));
  }
  if (!port) {
    throw Error(ErrorKind::usage,
                fmt::format("serve: listen \"{}\": expected ADDRESS:PORT, for "
                            "example 0.0.0.0:8470",
                            text));
  }
  std::string address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[') {
    address = address.substr(1, address.size() - 2);
  }
  return {address, *port};
}

std::string text_of(const Endpoint& endpoint) {
  bool is_v6 = endpoint.address.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"),
                     endpoint.address, endpoint.port);
}

bool is_loopback(const std::string& address) {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == 127;
  }
  return address == "::1" || address == "localhost";
}

bool is_public_url(const std::string& url) {
  constexpr std::size_t kMostUrl = 512;
  UrlParts parts = split(url);
  return url.size() <= kMostUrl && is_plain(url) &&
         (parts.scheme == "http" || parts.scheme == "https") &&
         !parts.host.empty() && !is_every_address(parts.host) &&
         (!parts.port || is_good_port(*parts.port));
}

std::string host_of(const std::string& url) {
  return split(url).host;
}

std::optional<std::string> volunteers_url(const std::string& url,
                                          const Endpoint& endpoint,
                                          bool is_tls) {
  if (url.empty() && is_every_address(endpoint.address)) return std::nullopt;
  if (url.empty()) {
    return fmt::format("{}://{}", is_tls ? "https" : "http", text_of(endpoint));
  }
  std::string plain = url;
  while (plain.ends_with('/')) plain.pop_back();
  return plain;
}

}  // namespace quorate
