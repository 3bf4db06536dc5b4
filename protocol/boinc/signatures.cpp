#include "protocol/boinc/signatures.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::boinc {
namespace {

constexpr std::string_view kBits = "1024";

std::string in_lines(const std::string& digits) {
  constexpr std::size_t kDigitsPerLine = 64;
  std::string text;
  for (std::size_t at = 0; at < digits.size(); at += kDigitsPerLine) {
    text += digits.substr(at, kDigitsPerLine) + '\n';
  }
  return text + ".\n";
}

// What stands before the dot, without white space; throws corrupt when there is
// no dot or more than `most` digits.
std::string before_dot(std::string_view text, std::size_t most,
                       const char* what) {
  std::string found;
  for (char c : text.substr(0, text.find('.'))) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    if (found.size() == most) break;
    found += c;
  }
  if (text.find('.') == std::string_view::npos) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected a dot after it, found none", what));
  }
  return found;
}

template <class T>
T parse_before_dot(std::string_view text, const char* what) {
  return parse_hex<T>(before_dot(text, 2 * sizeof(T::bytes) + 1, what), what);
}

}  // namespace

std::string write(const RsaPublicKey& key) {
  return fmt::format("{}\n{}", kBits,
                     in_lines(key.modulus.hex() + key.exponent.hex()));
}

RsaPublicKey parse_key(std::string_view text) {
  constexpr const char* kWhat = "code-sign key";
  RsaPublicKey key;
  std::size_t half = 2 * key.modulus.bytes.size();
  std::string found = before_dot(text, kBits.size() + 2 * half + 1, kWhat);
  if (!found.starts_with(kBits)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one of {} bits", kWhat, kBits));
  }
  std::string_view digits = std::string_view(found).substr(kBits.size());
  std::array<std::uint8_t, 256> bytes{};
  from_hex(digits, bytes, kWhat);
  std::copy_n(bytes.begin(), 128, key.modulus.bytes.begin());
  std::copy_n(bytes.begin() + 128, 128, key.exponent.bytes.begin());
  return key;
}

std::string write(const RsaSignature& signature) {
  return in_lines(signature.hex());
}

RsaSignature parse_signature(std::string_view text) {
  return parse_before_dot<RsaSignature>(text, "signature");
}

RsaSignature sign(const RsaPrivateKey& key, const Md5Hash& data) {
  return key.sign(data.hex());
}

bool verify(const RsaPublicKey& key, const Md5Hash& data,
            const RsaSignature& signature) {
  return quorate::verify(key, data.hex(), signature);
}

Md5Hash successor(const RsaPublicKey& key) {
  std::string text = write(key);
  text.pop_back();  // the newline after the dot
  return md5(as_bytes(text));
}

UploadPermission permit_upload(const UploadKey& key, std::string_view name,
                               std::uint64_t max_nbytes) {
  std::string text = fmt::format("<name>{}</name><max_nbytes>{}</max_nbytes>",
                                 name, max_nbytes);
  return {hmac_sha256(key, as_bytes(text))};
}

bool is_permitted(const UploadKey& key, std::string_view name,
                  std::uint64_t max_nbytes,
                  const UploadPermission& permission) {
  return is_equal_secret(permit_upload(key, name, max_nbytes), permission);
}

std::string write(const UploadPermission& permission) {
  return in_lines(permission.hex());
}

UploadPermission parse_upload_permission(std::string_view text) {
  return parse_before_dot<UploadPermission>(text, "permission to upload");
}

}  // namespace quorate::boinc
