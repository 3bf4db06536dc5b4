#include "server/http/text.h"

#include <algorithm>
#include <charconv>
#include <ctime>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "server/http/clients/ip_address.h"

namespace quorate {
namespace {

constexpr std::size_t kMaxQueryParameters = 64;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// The part of `text` before the first `separator`, which leaves `text`.
std::string_view take_until(std::string_view& text, char separator) {
  std::size_t end = std::min(text.find(separator), text.size());
  std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

// All of `text` as a number in `base`.
std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus) {
      c = ' ';
    } else if (c == '%') {
      if (i + 2 >= text.size()) return {};
      auto value = parse_number(text.substr(i + 1, 2), 16);
      if (!value) return {};
      c = static_cast<char>(*value);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return {};
    out += c;
  }
  return out;
}

bool is_of_name(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_';
}

bool parse_path(std::string_view path, Target& target) {
  path.remove_prefix(1);
  target.path = "/";
  if (path.empty()) return true;
  while (true) {
    bool is_last = path.find('/') == std::string_view::npos;
    auto segment = percent_decode(take_until(path, '/'), false);
    if (!segment || *segment == "." || *segment == ".." ||
        segment->find('/') != std::string::npos) {
      return false;
    }
    target.path += *segment;
    target.segments.push_back(std::move(*segment));
    if (is_last) return true;
    target.path += '/';
  }
}

bool parse_query(std::string_view query, Target& target) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    auto name = percent_decode(take_until(value, '='), true);
    auto decoded = percent_decode(value, true);
    if (!name || !decoded || target.query.size() == kMaxQueryParameters) {
      return false;
    }
    target.query.emplace_back(std::move(*name), std::move(*decoded));
  }
  return true;
}

}  // namespace

bool equal_without_case(std::string_view a, std::string_view b) {
  return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

std::string_view reason_of(int status) {
  const auto reason = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  return {reason.data(), reason.size()};
}

std::string http_date(std::int64_t unix_ms) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed",
                                          "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr",
                                            "May", "Jun", "Jul", "Aug",
                                            "Sep", "Oct", "Nov", "Dec"};
  std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm tm{};
  ::gmtime_r(&seconds, &tm);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[tm.tm_wday],
                     tm.tm_mday, kMonths[tm.tm_mon], tm.tm_year + 1900,
                     tm.tm_hour, tm.tm_min, tm.tm_sec);
}

std::optional<Target> parse_target(std::string_view target) {
  // The absolute form, which only proxies need (RFC 9112, section 3.2.2).
  for (std::string_view scheme : {"http://", "https://"}) {
    if (target.substr(0, scheme.size()) == scheme) {
      std::size_t path = target.find('/', scheme.size());
      if (path == std::string_view::npos) return {};
      target.remove_prefix(path);
    }
  }
  if (target.empty() || target[0] != '/') return {};
  Target out;
  std::string_view path = take_until(target, '?');
  if (!parse_path(path, out) || !parse_query(target, out)) return {};
  return out;
}

std::string joined_values(const Request& request, std::string_view name) {
  std::string list;
  for (const auto& [given, value] : request.headers) {
    if (!equal_without_case(given, name)) continue;
    if (!list.empty()) list += ',';
    list += value;
  }
  return list;
}

bool is_host(std::string_view text) {
  constexpr std::size_t kMostName = 253;  // RFC 1035
  std::size_t end = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    end = std::min(text.find(']'), text.size());
    const std::string_view address = text.substr(1, end - 1);
    if (end == text.size() || address.find(':') == address.npos ||
        !parse_ip(address)) {
      return false;
    }
    ++end;
  } else if (end == 0 || end > kMostName || text.front() == '.' ||
             text.front() == '-' ||
             !std::all_of(text.begin(), text.begin() + end, is_of_name)) {
    return false;
  }
  const std::string_view port = text.substr(end);
  if (port.empty()) return true;
  const auto number = parse_number(port.substr(1), 10);
  return port.front() == ':' && number && *number > 0 && *number <= UINT16_MAX;
}

Conditions conditions_of(const Request& request) {
  return {request.method, std::string(request.header("range")),
          std::string(request.header("if-range")),
          std::string(request.header("if-none-match"))};
}

bool is_known(const Conditions& conditions, std::string_view etag) {
  bool reads =
      conditions.method == Method::get || conditions.method == Method::head;
  if (!reads || etag.empty()) return false;
  std::string_view list = conditions.if_none_match;
  while (!list.empty()) {
    std::string_view item = trim(take_until(list, ','));
    if (item == "*") return true;
    if (item.substr(0, 2) == "W/") item.remove_prefix(2);
    if (item == etag) return true;
  }
  return false;
}

ContentRange content_range(const Conditions& conditions, std::string_view etag,
                           std::uint64_t size) {
  const ContentRange whole{200, 0, size};
  std::string_view text = conditions.range;
  if (text.substr(0, 6) != "bytes=") return whole;
  if (conditions.method != Method::get) return whole;
  if (!conditions.if_range.empty() && conditions.if_range != etag) return whole;
  text = trim(text.substr(6));
  std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return whole;
  std::string_view first_text = text.substr(0, dash);
  std::string_view last_text = text.substr(dash + 1);
  auto first = parse_number(first_text, 10);
  auto last = parse_number(last_text, 10);
  if ((!first && !first_text.empty()) || (!last && !last_text.empty())) {
    return whole;
  }
  if (!first) {  // "-500": the last 500 bytes
    if (!last) return whole;
    std::uint64_t length = std::min(*last, size);
    if (length == 0) return {416, 0, 0};
    return {206, size - length, length};
  }
  if (last && *last < *first) return whole;
  if (*first >= size) return {416, 0, 0};
  std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {206, *first, end - *first + 1};
}

}  // namespace quorate
