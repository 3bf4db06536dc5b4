// MD5 and RSA with 1024 bits: what BOINC clients demand and know no better
// than. Nothing of ours trusts them: units are sealed and results signed with
// Ed25519 (base/crypto). And HMAC with SHA-1, which authenticator apps make
// their codes with: what is weak of SHA-1 (collisions) is none of HMAC's.
// Beside base/crypto the only user of OpenSSL's crypto.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/crypto.h"

namespace quorate {

struct Md5Hash : FixedBytes<16> {};

Md5Hash md5(ByteView bytes);

// MD5 of a stream.
class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;

  void update(ByteView bytes);
  // The hash of everything so far; the object starts anew.
  Md5Hash finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// RFC 2104.
FixedBytes<20> hmac_sha1(ByteView key, ByteView message);

// Big-endian, as all numbers of RSA here.
struct RsaSignature : FixedBytes<128> {};
struct RsaPublicKey {
  FixedBytes<128> modulus;
  FixedBytes<128> exponent;

  bool operator==(const RsaPublicKey&) const = default;
};

// An RSA key pair with 1024 bits and exponent 65537.
class RsaPrivateKey {
 public:
  static RsaPrivateKey generate();
  // Reads PEM, as "openssl genrsa 1024" writes it, too; throws io, corrupt, or
  // denied when others may read the file.
  static RsaPrivateKey load(const std::string& path);
  // Writes PEM (PKCS #8) to a new file with mode 0600; throws io if it exists.
  void save(const std::string& path) const;

  // Of at most 117 bytes, padded by PKCS #1 v1.5, type 1 (RFC 8017, section
  // 9.2), with `text` itself where other users of RSA put the name and value of
  // a hash. Deterministic.
  RsaSignature sign(std::string_view text) const;
  const RsaPublicKey& public_key() const { return public_key_; }

 private:
  explicit RsaPrivateKey(std::shared_ptr<void> pkey);

  std::shared_ptr<void> pkey_;  // OpenSSL's form
  RsaPublicKey public_key_;
};

// False also for keys that are none.
bool verify(const RsaPublicKey& key, std::string_view text,
            const RsaSignature& signature);

}  // namespace quorate
