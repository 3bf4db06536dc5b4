// The TLS settings of a listener. Internal to server/http.
#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "server/http/tls/tls.h"

namespace quorate {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using TlsSession = std::unique_ptr<SSL, FreeTls>;

// For servers: TLS 1.2 and later, with session tickets. Throws io, naming the
// file, if certificate and key do not load or do not belong together. May be
// used by several threads.
TlsContext make_tls_context(const TlsFiles& files);

// Throws io with the text of OpenSSL's oldest error after `what`.
[[noreturn]] void throw_tls(const std::string& what);

}  // namespace quorate
