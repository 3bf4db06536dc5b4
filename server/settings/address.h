// The addresses of the server: where it listens, and what volunteers type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quorate {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

// "ADDRESS:PORT", an IPv6 address in brackets. Throws usage.
Endpoint parse_endpoint(const std::string& text);
// The other way round.
std::string text_of(const Endpoint& endpoint);

bool is_loopback(const std::string& address);

// Whether volunteers could type this: http or https, a host that is a machine's
// own, perhaps a port from 1 to 65535 and a path. Empty is not.
bool is_public_url(const std::string& url);
// For people: what is_public_url() expects.
inline constexpr const char* kPublicUrl =
    "http or https, a host and perhaps a port from 1 to 65535, as "
    "https://train.example.org:8470";
// Of a public URL, brackets of an IPv6 address left out.
std::string host_of(const std::string& url);

// Where volunteers reach a server that listens on `endpoint`: the setting `url`
// unless that is empty; nullopt if nobody has said it.
std::optional<std::string> volunteers_url(const std::string& url,
                                          const Endpoint& endpoint,
                                          bool is_tls);

}  // namespace quorate
