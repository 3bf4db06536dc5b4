// SHA-256, HMAC, encryption, Ed25519 and secret random bytes. Beside
// base/weak_crypto the only user of OpenSSL's crypto.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace quorate {

// N bytes that are compared, stored and printed as a whole.
template <std::size_t N>
struct FixedBytes {
  std::array<std::uint8_t, N> bytes{};

  auto operator<=>(const FixedBytes&) const = default;
  ByteView view() const { return bytes; }
  std::string hex() const { return to_hex(bytes); }
  bool is_zero() const { return *this == FixedBytes{}; }
};

struct Hash : FixedBytes<32> {};       // a SHA-256
struct PublicKey : FixedBytes<32> {};  // Ed25519
struct Signature : FixedBytes<64> {};  // Ed25519

// Throws corrupt unless `text` is the hexadecimal form of a T.
template <class T>
T parse_hex(std::string_view text, std::string_view what) {
  T value;
  from_hex(text, value.bytes, what);
  return value;
}

Hash sha256(ByteView bytes);

// Of a secret that may be guessed, as a password: scrypt (RFC 7914) with 16 MiB
// and some 50 ms.
Hash slow_hash(ByteView secret, ByteView salt);

// SHA-256 of a stream.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(ByteView bytes);
  // The hash of everything so far; the object starts anew.
  Hash finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// What only those who have the key can make of `message`: HMAC with SHA-256,
// RFC 2104. To be compared by is_equal_secret() only.
FixedBytes<32> hmac_sha256(const FixedBytes<32>& key, ByteView message);

// Takes a time that does not tell where they differ.
bool is_equal_secret(const FixedBytes<32>& a, const FixedBytes<32>& b);

struct CipherNonce : FixedBytes<12> {};

// How much longer than the plain text an encrypted one is: nonce and tag.
inline constexpr std::size_t kEncryptionBytes = 12 + 16;

// ChaCha20-Poly1305 (RFC 8439): nonce, ciphertext, tag. `bound` is not in it,
// but has to be known to decrypt it. A nonce may serve once with a key, else
// both texts are given away.
Bytes encrypt(const FixedBytes<32>& key, const CipherNonce& nonce,
              ByteView bound, ByteView plain);
// The same with a nonce that is drawn: for at most 2^32 texts with one key.
Bytes encrypt(const FixedBytes<32>& key, ByteView bound, ByteView plain);
// nullopt unless who had the key encrypted exactly this, bound to `bound`.
std::optional<Bytes> decrypt(const FixedBytes<32>& key, ByteView bound,
                             ByteView encrypted);

// The key for one purpose, from a secret that nobody can guess: the first 32
// bytes of HKDF with SHA-256 (RFC 5869). Keys for different purposes tell
// nothing of each other or of the secret.
FixedBytes<32> derive_key(ByteView secret, const FixedBytes<32>& salt,
                          ByteView purpose);

// An Ed25519 key pair. Signing is deterministic.
class PrivateKey {
 public:
  static PrivateKey generate();
  // Throws corrupt unless `seed` has 32 bytes.
  static PrivateKey from_seed(ByteView seed);
  // Reads 64 hexadecimal digits (and a newline); throws io, corrupt, or denied
  // when others may read the file.
  static PrivateKey load(const std::string& path);
  // Writes a new file with mode 0600; throws io if it exists.
  void save(const std::string& path) const;

  // Another key, always the same for one purpose. Whoever knows several of them
  // cannot tell that they have one origin.
  PrivateKey derive(std::string_view purpose) const;

  Signature sign(ByteView message) const;
  const PublicKey& public_key() const { return public_key_; }

 private:
  PrivateKey() = default;
  std::array<std::uint8_t, 32> seed_{};
  PublicKey public_key_;
  std::shared_ptr<void> pkey_;  // OpenSSL's form: to make it costs as much as
                                // to sign with it
};

// False also for keys of small order, for which forging is easy.
bool verify(const PublicKey& key, ByteView message, const Signature& signature);

// From the operating system's generator; for keys, nonces, tokens, draws that
// nobody may predict.
void fill_secret_random(std::span<std::uint8_t> out);
std::uint64_t secret_random_u64();
template <class T>  // a FixedBytes
T secret_random() {
  T value;
  fill_secret_random(value.bytes);
  return value;
}

}  // namespace quorate

template <>
struct std::hash<quorate::Hash> {
  std::size_t operator()(const quorate::Hash& key) const noexcept {
    std::size_t value = 0;
    std::memcpy(&value, key.bytes.data(), sizeof value);
    return value;
  }
};
