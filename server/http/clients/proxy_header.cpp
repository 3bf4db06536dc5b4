#include "server/http/clients/proxy_header.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::string_view kLineStart = "PROXY ";
constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kFixed = 16;  // bytes of version 2 before its addresses

[[noreturn]] void refuse(const char* found) {
  throw Error(
      ErrorKind::corrupt,
      std::string("the PROXY protocol's header, version 1 or 2: ") + found);
}

bool begins(std::string_view bytes, std::string_view start) {
  const std::size_t both = std::min(bytes.size(), start.size());
  return bytes.substr(0, both) == start.substr(0, both);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == line.npos) return words;
    line.remove_prefix(space + 1);
  }
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, port);
  const bool has_zeros = text.size() > 1 && text.front() == '0';
  return error == std::errc() && end == last && !has_zeros;
}

// As the word for the family says that they are written.
std::optional<IpAddress> parse_of_family(std::string_view text, bool is_v6) {
  const bool has_colon = text.find(':') != text.npos;
  return has_colon == is_v6 ? parse_ip(text) : std::nullopt;
}

// line: without its end.
std::optional<IpAddress> client_of_line(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() > 1 && words[1] == "UNKNOWN") return {};
  const bool is_v6 = words.size() == 6 && words[1] == "TCP6";
  if (!is_v6 && !(words.size() == 6 && words[1] == "TCP4")) {
    refuse(
        "expected \"PROXY TCP4\" or \"PROXY TCP6\" with two addresses and "
        "two ports, or \"PROXY UNKNOWN\"");
  }
  const auto client = parse_of_family(words[2], is_v6);
  if (!client || !parse_of_family(words[3], is_v6) || !is_port(words[4]) ||
      !is_port(words[5])) {
    refuse("an address or a port is none");
  }
  return client;
}

unsigned byte_of(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::optional<IpAddress> client_of_binary(std::string_view bytes) {
  constexpr unsigned kLocal = 0x20, kProxied = 0x21;
  constexpr unsigned kTcp4 = 0x11, kTcp6 = 0x21;
  const unsigned command = byte_of(bytes, 12);
  const unsigned family = byte_of(bytes, 13);
  if (command != kLocal && command != kProxied) {
    refuse("unknown version or command");
  }
  if (family >> 4 > 3 || (family & 15) > 2) refuse("unknown family");
  if (command == kLocal || (family != kTcp4 && family != kTcp6)) return {};
  const std::size_t size = family == kTcp4 ? 4 : 16;
  const std::size_t both_with_ports = 2 * size + 4;
  if (bytes.size() < kFixed + both_with_ports) {
    refuse("shorter than its addresses");
  }
  IpAddress client = *parse_ip("0.0.0.0");
  std::transform(bytes.begin() + kFixed,
                 bytes.begin() + static_cast<std::ptrdiff_t>(kFixed + size),
                 client.bytes.end() - static_cast<std::ptrdiff_t>(size),
                 [](char c) { return static_cast<std::uint8_t>(c); });
  return client;
}

}  // namespace

void ProxyHeader::take(ByteView bytes) {
  check(bytes.size() <= wanted_, "a header takes what it wants at most");
  bytes_ += as_text(bytes);
  // Told by the first wrong byte: whoever sends too few may wait for ever.
  const bool is_line = begins(bytes_, kLineStart);
  if (!is_line && !begins(bytes_, kSignature)) {
    refuse(
        "found other bytes: let the proxy send it (nginx: proxy_protocol "
        "on; HAProxy: send-proxy), or set `proxy_protocol` to false");
  }
  wanted_ -= bytes.size();
  if (wanted_ > 0) return;
  if (is_line) {
    take_line();
  } else {
    take_binary();
  }
}

void ProxyHeader::take_line() {
  const std::size_t end = bytes_.find('\r');
  if (end == bytes_.npos || end + 1 == bytes_.size()) {
    wanted_ = end == bytes_.npos ? 2 : 1;
    if (bytes_.size() + wanted_ > kMostLine) refuse("the line is too long");
    return;
  }
  if (end + 2 != bytes_.size() || bytes_.back() != '\n') {
    refuse("the line does not end in CR and LF");
  }
  client_ = client_of_line(std::string_view(bytes_).substr(0, end));
}

void ProxyHeader::take_binary() {
  if (bytes_.size() < kFixed) {
    wanted_ = kFixed - bytes_.size();
    return;
  }
  const std::size_t length = byte_of(bytes_, 14) << 8 | byte_of(bytes_, 15);
  if (length > kMostAddresses) refuse("longer than 2048 bytes");
  wanted_ = kFixed + length - bytes_.size();
  if (wanted_ == 0) client_ = client_of_binary(bytes_);
}

}  // namespace quorate
