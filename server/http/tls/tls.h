// Certificates for the server's TLS: making one, and the pin of its key.
#pragma once

#include <string>

#include "base/file.h"

namespace quorate {

struct TlsFiles {
  fs::path certificate;  // PEM, the server's own first, then its issuers
  fs::path key;          // PEM, without a passphrase
};

// Writes a self-signed certificate and its key (P-256, valid for 10 years, for
// localhost, 127.0.0.1, ::1 and `common_name`, a host name or an address; the
// key with mode 0600), replacing files that are there. Clients trust it by its
// pin, not by an authority. Throws usage if the name is empty or longer than
// 64 characters, io.
void make_self_signed_certificate(const TlsFiles& files,
                                  const std::string& common_name);

// Throws io, naming the file, if certificate and key do not load or do not
// belong together.
void expect_certificate(const TlsFiles& files);

// "sha256//" and the base64 of the SHA-256 of the certificate's public key
// (SubjectPublicKeyInfo, DER): the form of libcurl's CURLOPT_PINNEDPUBLICKEY.
// Throws io or corrupt.
std::string public_key_pin(const fs::path& certificate);

}  // namespace quorate
