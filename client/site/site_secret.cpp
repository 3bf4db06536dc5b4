#include "client/site/site_secret.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr std::string_view kPrefix = "quorate-site-";
using Checksum = FixedBytes<4>;

// Other purposes and other versions of the messages get other keys.
FixedBytes<32> site_key(const FixedBytes<16>& secret,
                        std::string_view purpose) {
  const std::string whole = "quorate site 1: " + std::string(purpose);
  return derive_key(secret.bytes, {}, as_bytes(whole));
}

Checksum checksum_of(const FixedBytes<16>& secret) {
  Checksum sum;
  const FixedBytes<32> key = site_key(secret, "checksum");
  std::copy_n(key.bytes.begin(), sum.bytes.size(), sum.bytes.begin());
  return sum;
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

[[noreturn]] void refuse_secret(const std::string& found) {
  throw Error(ErrorKind::usage,
              fmt::format("site secret: expected {} and 40 hexadecimal digits, "
                          "found {}: copy the whole line that `quorate-client "
                          "site create` printed",
                          kPrefix, found));
}

}  // namespace

SiteSecret::SiteSecret(const FixedBytes<16>& secret) : secret_(secret) {
  id_.bytes = site_key(secret, "id").bytes;
  keys_ = {site_key(secret, "contact"), site_key(secret, "request"),
           site_key(secret, "reply")};
}

SiteSecret SiteSecret::generate() {
  return SiteSecret(secret_random<FixedBytes<16>>());
}

SiteSecret SiteSecret::parse(std::string_view text) {
  text = without_space(text);
  if (text.substr(0, kPrefix.size()) != kPrefix) refuse_secret("another text");
  text.remove_prefix(kPrefix.size());
  constexpr std::size_t kSecretDigits = 32;
  constexpr std::size_t kDigits = kSecretDigits + 2 * sizeof(Checksum);
  if (text.size() != kDigits) {
    refuse_secret(fmt::format("{} characters after it", text.size()));
  }
  FixedBytes<16> secret;
  Checksum sum;
  try {
    from_hex(text.substr(0, kSecretDigits), secret.bytes, "site secret");
    from_hex(text.substr(kSecretDigits), sum.bytes, "site secret");
  } catch (const Error&) {
    refuse_secret("another character among them");
  }
  if (sum != checksum_of(secret)) refuse_secret("one that has a slip in it");
  return SiteSecret(secret);
}

std::string SiteSecret::text() const {
  return fmt::format("{}{}{}", kPrefix, secret_.hex(),
                     checksum_of(secret_).hex());
}

const FixedBytes<32>& SiteSecret::key(MateMessage kind) const {
  return keys_.at(static_cast<std::size_t>(kind));
}

Bytes SiteSecret::seal(MateMessage kind, ByteView message,
                       ByteView bound) const {
  return encrypt(key(kind), bound, message);
}

std::optional<Bytes> SiteSecret::open(MateMessage kind, ByteView sealed,
                                      ByteView bound) const {
  return decrypt(key(kind), bound, sealed);
}

}  // namespace quorate::client
