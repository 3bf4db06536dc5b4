#include "server/web/web_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "server/settings/address.h"

namespace quorate {
namespace {

constexpr std::size_t kTokenDigits = 64;
constexpr JsonLimits kOrderLimits{kMostOrderBytes, 16};

bool is_token(std::string_view text) {
  return text.size() == kTokenDigits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

WebWay way_of(const Request& request, bool is_tls, bool is_loopback) {
  if (is_tls) return WebWay::encrypted;
  if (!is_loopback) return WebWay::open;
  const std::string_view way = request.header("X-Forwarded-Proto");
  if (way == "https") return WebWay::encrypted;
  const bool is_forwarded = !way.empty() ||
                            !request.header("X-Forwarded-For").empty() ||
                            !request.header("Forwarded").empty();
  // A proxy that speaks the PROXY protocol adds no header; the address tells.
  const bool is_from_here = quorate::is_loopback(request.remote_address);
  return is_forwarded || !is_from_here ? WebWay::open : WebWay::local;
}

std::string_view cookie_name(WebWay way) {
  return way == WebWay::encrypted ? "__Host-quorate-admin" : "quorate-admin";
}

std::string session_cookie(WebWay way, std::string_view token,
                           std::int64_t max_age) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}",
                     cookie_name(way), token, max_age,
                     way == WebWay::encrypted ? "; Secure" : "");
}

std::optional<std::string> session_token(std::string_view header,
                                         std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view pair = without_spaces(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::size_t at = pair.find('=');
    if (at == pair.npos || pair.substr(0, at) != name) continue;
    const std::string_view value = pair.substr(at + 1);
    if (!is_token(value)) return std::nullopt;
    return std::string(value);
  }
  return std::nullopt;
}

// Browsers say from where, of pages that came over TLS or from their own
// machine; old ones send at least Origin with what is not GET. (A proxy may
// change Host, which Origin is compared with.)
void expect_own_page(const Request& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  const std::string_view origin = request.header("Origin");
  const std::string own = fmt::format("://{}", request.header("Host"));
  const bool is_own = site.empty() ? origin.empty() || origin.ends_with(own)
                                   : site == "same-origin";
  const bool is_json =
      request.header("Content-Type").starts_with("application/json");
  if (is_own && is_json) return;
  throw Error(ErrorKind::denied,
              "administration: orders are taken from this server's own page "
              "alone, as application/json: log in at /admin");
}

WebOrder parse_web_order(std::string_view body) {
  const nlohmann::json parsed = parse_json(body, kOrderLimits, "order");
  const JsonFields fields(parsed, "order");
  WebOrder order;
  order.arguments = fields.at("arguments");
  const bool says = fields.has("confirmed");
  if (!order.arguments.is_object() ||
      (says && !fields.at("confirmed").is_boolean())) {
    throw Error(ErrorKind::corrupt,
                "order: expected {\"arguments\": {...}, \"confirmed\": true}");
  }
  order.is_confirmed = says && fields.at("confirmed").get<bool>();
  return order;
}

}  // namespace quorate
