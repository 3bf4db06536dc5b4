// What a request to the page for administration says of itself, and what is
// asked of it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "server/http/message.h"

namespace quorate {

// How it came to this server.
enum class WebWay {
  encrypted,  // over TLS, ours or that of a proxy on this machine
  local,      // in clear, from this machine
  open,       // in clear, from elsewhere: nothing is done for it
};
// is_tls: of the listener; is_loopback: it is reached from this machine alone.
// A proxy says with X-Forwarded-Proto how a request came to it; one that says
// only whom it came from did not come over TLS.
WebWay way_of(const Request& request, bool is_tls, bool is_loopback);

// A cookie that a browser sends over TLS alone has another name, so that no
// other can stand in for it.
std::string_view cookie_name(WebWay way);
// For Set-Cookie; max_age 0 takes it away.
std::string session_cookie(WebWay way, std::string_view token,
                           std::int64_t max_age);
// The token in a Cookie header: 64 hexadecimal digits. nullopt if there is none
// of this name, or it is no token.
std::optional<std::string> session_token(std::string_view header,
                                         std::string_view name);

// Throws denied if another site's page may have made the request, or a form.
void expect_own_page(const Request& request);

struct WebOrder {
  nlohmann::json arguments;
  bool is_confirmed = false;
};
inline constexpr std::uint64_t kMostOrderBytes = 64 << 10;
// {"arguments": {...}, "confirmed": true}, the second may be missing. Throws
// corrupt.
WebOrder parse_web_order(std::string_view body);

}  // namespace quorate
