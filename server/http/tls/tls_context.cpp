#include "server/http/tls/tls_context.h"

#include <openssl/err.h>

#include "base/error.h"

namespace quorate {

void throw_tls(const std::string& what) {
  char text[256] = "no reason given";
  if (unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, text, sizeof text);
  }
  ERR_clear_error();
  throw Error(ErrorKind::io, what + ": " + text);
}

TlsContext make_tls_context(const TlsFiles& files) {
  ERR_clear_error();
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* raw = context.get();
  if (!raw) throw_tls("starting TLS");
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Tickets keep the sessions with the clients; the server remembers none.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  static constexpr unsigned char kSessionContext[] = "quorate";
  SSL_CTX_set_session_id_context(raw, kSessionContext, sizeof kSessionContext);
  // Our buffers move between retries, and idle connections should be small.
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1) {
    throw_tls("loading the TLS certificate " + files.certificate.string());
  }
  if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) !=
      1) {
    throw_tls("loading the TLS key " + files.key.string() + " of " +
              files.certificate.string());
  }
  return context;
}

}  // namespace quorate
