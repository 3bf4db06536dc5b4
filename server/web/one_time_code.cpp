#include "server/web/one_time_code.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/weak_crypto.h"

namespace quorate {
namespace {

constexpr std::int64_t kStepMs = 30'000;
constexpr std::uint32_t kCodes = 1'000'000;
constexpr std::size_t kDigits = 6;

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                          c == '_' || c == '~';
    if (is_plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

std::uint64_t code_step(std::int64_t unix_ms) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(unix_ms, 0) /
                                    kStepMs);
}

// RFC 4226, section 5.3: four bytes at the place that the last one says.
std::uint32_t one_time_code(const CodeSecret& secret, std::uint64_t step) {
  std::array<std::uint8_t, 8> counter{};
  for (std::size_t i = 0; i < counter.size(); ++i) {
    counter[counter.size() - 1 - i] = static_cast<std::uint8_t>(step >> 8 * i);
  }
  const FixedBytes<20> mac = hmac_sha1(secret.view(), counter);
  const std::size_t at = mac.bytes.back() & 0xFU;
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8 | mac.bytes.at(i);
  }
  return (number & 0x7FFFFFFFU) % kCodes;
}

std::optional<std::uint32_t> parse_code(std::string_view text) {
  if (text.size() != kDigits) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    code = 10 * code + static_cast<std::uint32_t>(c - '0');
  }
  return code;
}

std::optional<std::uint64_t> step_of_code(const CodeSecret& secret,
                                          std::uint32_t code,
                                          std::uint64_t present) {
  std::optional<std::uint64_t> found;
  // Both, whichever it is: the time tells nothing.
  for (const std::uint64_t step :
       {present - (present > 0 ? 1U : 0U), present}) {
    if (one_time_code(secret, step) == code) found = step;
  }
  return found;
}

std::string base32(ByteView bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string text;
  std::uint32_t bits = 0;
  std::size_t held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 5; held -= 5) {
      text += kLetters[bits >> (held - 5) & 31U];
    }
  }
  if (held > 0) text += kLetters[bits << (5 - held) & 31U];
  return text;
}

std::string otpauth_url(std::string_view project, std::string_view name,
                        const CodeSecret& secret) {
  const std::string issuer = percent_encoded(project);
  return fmt::format(
      "otpauth://totp/{}:{}?secret={}&issuer={}&algorithm=SHA1&digits={}"
      "&period={}",
      issuer, percent_encoded(name), base32(secret.view()), issuer, kDigits,
      kStepMs / 1000);
}

}  // namespace quorate
