#include <algorithm>

#include <doctest/doctest.h>

#include "base/crypto.h"

namespace quorate {
namespace {

Bytes bytes_of_hex(std::string_view hex) {
  Bytes bytes(hex.size() / 2);
  from_hex(hex, bytes, "test");
  return bytes;
}

FixedBytes<32> padded(std::string_view hex) {
  FixedBytes<32> padded;
  Bytes bytes = bytes_of_hex(hex);
  std::copy(bytes.begin(), bytes.end(), padded.bytes.begin());
  return padded;
}

// RFC 8439, section 2.8.2.
const FixedBytes<32> kKey =
    padded("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
const std::string_view kNonce = "070000004041424344454647";
const std::string_view kBound = "50515253c0c1c2c3c4c5c6c7";
const std::string_view kPlain =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one "
    "tip for the future, sunscreen would be it.";
const std::string_view kCipher =
    "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
    "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
    "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
    "3ff4def08e4b7a9de576d26586cec64b6116";
const std::string_view kTag = "1ae10b594f09e26a7e902ecbd0600691";

TEST_CASE("ChaCha20-Poly1305 gives the answer of RFC 8439") {
  Bytes bound = bytes_of_hex(kBound);
  Bytes encrypted = encrypt(kKey, parse_hex<CipherNonce>(kNonce, "nonce"),
                            bound, as_bytes(kPlain));
  CHECK(to_hex(encrypted) ==
        std::string(kNonce) + std::string(kCipher) + std::string(kTag));
  auto plain = decrypt(kKey, bound, encrypted);
  REQUIRE(plain);
  CHECK(as_text(*plain) == kPlain);
}

TEST_CASE("what was changed anywhere does not decrypt") {
  const Bytes bound = bytes_of_hex(kBound);
  const Bytes encrypted = encrypt(kKey, bound, as_bytes("attack at dawn"));
  for (std::size_t at = 0; at < encrypted.size(); ++at) {
    CAPTURE(at);
    Bytes changed = encrypted;
    changed[at] ^= 1;
    CHECK_FALSE(decrypt(kKey, bound, changed));
    CHECK_FALSE(decrypt(kKey, bound, ByteView(encrypted).first(at)));
  }
  FixedBytes<32> other_key = kKey;
  other_key.bytes[31] ^= 1;
  CHECK_FALSE(decrypt(other_key, bound, encrypted));
  CHECK_FALSE(decrypt(kKey, ByteView(bound).first(11), encrypted));
  CHECK(decrypt(kKey, bound, encrypted));
}

TEST_CASE("an empty text is encrypted, too, and none twice alike") {
  Bytes first = encrypt(kKey, {}, {});
  CHECK(first.size() == kEncryptionBytes);
  CHECK(first != encrypt(kKey, {}, {}));
  auto plain = decrypt(kKey, {}, first);
  REQUIRE(plain);
  CHECK(plain->empty());
}

// Salts shorter than a block are the same as with zeros behind them (RFC 2104).
TEST_CASE("keys are those of RFC 5869") {
  CHECK(derive_key(Bytes(22, 0x0b), padded("000102030405060708090a0b0c"),
                   bytes_of_hex("f0f1f2f3f4f5f6f7f8f9"))
            .hex() ==
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
  CHECK(derive_key(Bytes(22, 0x0b), {}, {}).hex() ==
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

}  // namespace
}  // namespace quorate
