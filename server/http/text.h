// Small pure functions on the texts of HTTP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace quorate {

// ASCII only, as in header names.
bool equal_without_case(std::string_view a, std::string_view b);

// "Not Found" for 404.
std::string_view reason_of(int status);

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7).
std::string http_date(std::int64_t unix_ms);

// A request target in parts.
struct Target {
  std::string path;                   // decoded
  std::vector<std::string> segments;  // decoded; "/" has none
  std::vector<NameValue> query;       // decoded
};

// nullopt for what no client of good will sends: broken percent signs, control
// bytes, an encoded slash, segments "." and "..", over 64 query parameters.
std::optional<Target> parse_target(std::string_view target);

// All values of a header in their order, with commas between them.
std::string joined_values(const Request& request, std::string_view name);

// Whether a Host header names a machine and perhaps a port, and nothing else:
// letters, digits, '.', '-' and '_', or an IPv6 address in brackets.
bool is_host(std::string_view text);

// What a request asks of content that may be partial or already known.
struct Conditions {
  Method method = Method::get;
  std::string range;
  std::string if_range;
  std::string if_none_match;
};

Conditions conditions_of(const Request& request);

// True if the client already has the content named by `etag` (RFC 9110,
// section 13.1.2: weak comparison, list, "*").
bool is_known(const Conditions& conditions, std::string_view etag);

// The bytes to send of `size`, and with which status: 200, 206 or 416.
struct ContentRange {
  int status = 200;
  std::uint64_t first = 0;
  std::uint64_t length = 0;
};

// Several ranges at once, unknown units and broken texts are answered with the
// whole, as RFC 9110, section 14.2 allows.
ContentRange content_range(const Conditions& conditions, std::string_view etag,
                           std::uint64_t size);

}  // namespace quorate
