#include "protocol/transfer/project_address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

// What a server prints: 128 bits. Keys with a shorter beginning in common can
// be found by trying (8 digits: in minutes), and the fingerprint is all that
// vouches for the server.
constexpr std::size_t kLeastDigits = 32;
constexpr std::size_t kMostDigits = 64;
constexpr std::size_t kMostUrl = 512;

[[noreturn]] void refuse(std::string_view text, const std::string& found) {
  throw Error(ErrorKind::usage,
              fmt::format("project address \"{}\": {}: write it as "
                          "https://HOST:PORT#FINGERPRINT",
                          text, found));
}

std::string parse_fingerprint(std::string_view text, std::string_view whole) {
  std::string digits;
  for (char c : text) {
    if (c == ' ' || c == '-' || c == ':') continue;
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (!is_digit) refuse(whole, "the fingerprint is not hexadecimal");
    digits.push_back(c);
  }
  if (digits.size() < kLeastDigits || digits.size() > kMostDigits) {
    refuse(whole, fmt::format("the fingerprint has {} digits, expected {} "
                              "to {}",
                              digits.size(), kLeastDigits, kMostDigits));
  }
  return digits;
}

// "http//host" and the like: the scheme that was meant, else empty.
std::string_view mistyped_scheme(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return "";
  for (std::string_view scheme : {"https", "http"}) {
    if (text.rfind(scheme, 0) != 0) continue;
    std::string_view rest = text.substr(scheme.size());
    bool has_marks = !rest.empty() && (rest[0] == '/' || rest[0] == ':');
    // A host may be called "http", as in "http:8470".
    if (has_marks && rest.find('/') < 2) return scheme;
  }
  return "";
}

// authority: "host", "host:8470" or "[::1]:8470", perhaps with a path.
void expect_port(std::string_view authority, std::string_view whole) {
  authority = authority.substr(0, authority.find('/'));
  std::size_t bracket = authority.rfind(']');
  std::size_t colon =
      authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return;
  std::string_view port = authority.substr(colon + 1);
  std::uint32_t number = 0;
  const char* end = port.data() + port.size();
  auto [stop, failed] = std::from_chars(port.data(), end, number);
  if (failed != std::errc{} || stop != end || number < 1 || number > 65535) {
    refuse(whole, fmt::format("port {}: expected 1 to 65535", port));
  }
}

std::string parse_url(std::string_view text, std::string_view whole) {
  if (auto scheme = mistyped_scheme(text); !scheme.empty()) {
    refuse(whole, fmt::format("did you mean {}://?", scheme));
  }
  std::string url(text);
  constexpr std::string_view kLink = "quorate://";
  if (url.rfind(kLink, 0) == 0) url.erase(0, kLink.size());
  if (url.find("://") == std::string::npos) url = "https://" + url;
  std::size_t host = url.find("://") + 3;
  while (url.size() > host && url.back() == '/') url.pop_back();
  std::string scheme = url.substr(0, host);
  if (scheme != "http://" && scheme != "https://") {
    refuse(whole, "the scheme is neither http nor https");
  }
  if (host == url.size() || url[host] == '/' || url[host] == ':') {
    refuse(whole, "no host");
  }
  bool is_plain = std::all_of(url.begin(), url.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
  if (!is_plain) refuse(whole, "it has characters that a URL cannot have");
  if (url.size() > kMostUrl) {
    refuse(whole, fmt::format("longer than {} characters", kMostUrl));
  }
  expect_port(std::string_view(url).substr(host), whole);
  return url;
}

}  // namespace

ProjectAddress parse_project_address(std::string_view text) {
  std::size_t mark = text.find('#');
  ProjectAddress address;
  address.url = parse_url(text.substr(0, mark), text);
  if (mark != std::string_view::npos) {
    address.fingerprint = parse_fingerprint(text.substr(mark + 1), text);
  }
  return address;
}

bool matches(std::string_view fingerprint, const ProjectId& project) {
  return project.hex().compare(0, fingerprint.size(), fingerprint) == 0;
}

}  // namespace quorate
