// Keys and signatures in the text form of BOINC clients. Every file of an app
// version and each new code-sign key is signed for the client: RSA with 1024
// bits over MD5, see base/weak_crypto. The permission to upload a file is for
// our own upload handler, and clients give it back as it was: HMAC-SHA-256.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/weak_crypto.h"

namespace quorate::boinc {

// "1024", then modulus and exponent in lower-case hexadecimal digits, 64 a
// line, then a line with a dot.
std::string write(const RsaPublicKey& key);
// White space does not matter. Throws corrupt.
RsaPublicKey parse_key(std::string_view text);

// Hexadecimal digits, 64 a line, then a line with a dot.
std::string write(const RsaSignature& signature);
// White space and what follows the dot do not matter. Throws corrupt.
RsaSignature parse_signature(std::string_view text);

// What is signed of data is the 32 digits of its MD5.
RsaSignature sign(const RsaPrivateKey& key, const Md5Hash& data);
bool verify(const RsaPublicKey& key, const Md5Hash& data,
            const RsaSignature& signature);

// Of the key that shall follow the one that signs this.
Md5Hash successor(const RsaPublicKey& key);

// Known to the server only.
struct UploadKey : FixedBytes<32> {};
// To upload up to max_nbytes as the file `name`: the code of the text that
// stock servers sign with RSA.
struct UploadPermission : FixedBytes<32> {};
UploadPermission permit_upload(const UploadKey& key, std::string_view name,
                               std::uint64_t max_nbytes);
bool is_permitted(const UploadKey& key, std::string_view name,
                  std::uint64_t max_nbytes, const UploadPermission& permission);
// 64 hexadecimal digits, then a line with a dot.
std::string write(const UploadPermission& permission);
// White space and what follows the dot do not matter. Throws corrupt.
UploadPermission parse_upload_permission(std::string_view text);

}  // namespace quorate::boinc
