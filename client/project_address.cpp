#include "client/project_address.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::client {
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

std::string parse_url(std::string_view text, std::string_view whole) {
  std::string url(text);
  if (url.find("://") == std::string::npos) url = "https://" + url;
  while (!url.empty() && url.back() == '/') url.pop_back();
  std::size_t host = url.find("://") + 3;
  std::string_view scheme = std::string_view(url).substr(0, host);
  if (scheme != "http://" && scheme != "https://") {
    refuse(whole, "the scheme is neither http nor https");
  }
  bool is_plain = std::all_of(url.begin(), url.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
  if (host >= url.size() || url[host] == '/' || url.size() > kMostUrl ||
      !is_plain) {
    refuse(whole, "no host in it, or characters that no URL has");
  }
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

}  // namespace quorate::client
