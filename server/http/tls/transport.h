// Bytes through a non-blocking socket, plain or under TLS. Internal to
// server/http.
//
// The room server/http/tls is all that knows OpenSSL's sessions; it owns them,
// not the sockets, and may include base/ only. One connection's thread uses a
// Transport.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "server/http/tls/tls_context.h"

namespace quorate {

enum class IoStatus {
  done,
  want_read,   // again when the socket is readable
  want_write,  // again when it is writable
  closed,      // the other side is gone, or broke TLS
};

struct IoResult {
  IoStatus status = IoStatus::done;
  std::size_t bytes = 0;  // of status done; at least 1
};

// Bytes of all connections of a server, those of TLS itself left out.
struct Traffic {
  std::atomic<std::uint64_t> in{0};
  std::atomic<std::uint64_t> out{0};
};

// OpenSSL works on the socket itself instead of through asio::ssl::stream,
// whose memory buffers copy every byte once more.
class Transport {
 public:
  // fd, traffic: borrowed. context: null for a plain connection.
  Transport(int fd, SSL_CTX* context, Traffic& traffic);

  // Before the handshake: bytes of the socket itself, which TLS never sees.
  IoResult read_plain(std::span<std::uint8_t> to);
  // To be repeated until done; at once for a plain connection.
  IoResult handshake();
  IoResult read(std::span<std::uint8_t> to);
  // more: other bytes follow at once, so a short packet may wait for them.
  IoResult write(ByteView bytes, bool more);
  // At most 1 MB of a file. scratch: memory for the bytes under TLS. A file
  // that ends too early is `closed`.
  IoResult send_file(int file, std::uint64_t offset, std::uint64_t length,
                     std::span<std::uint8_t> scratch);
  // Bytes that read() gives although the socket is not readable.
  bool has_buffered() const;
  // Says that no more will be written; reading goes on.
  void close_write();

 private:
  IoResult tls_result(int returned) const;
  IoResult write_records(ByteView bytes);
  IoResult read_some(std::span<std::uint8_t> to);
  IoResult receive(std::span<std::uint8_t> to) const;
  IoResult write_some(ByteView bytes, bool more);
  IoResult send_some(int file, std::uint64_t offset, std::uint64_t length,
                     std::span<std::uint8_t> scratch);

  int fd_;
  Traffic& traffic_;
  TlsSession tls_;
};

}  // namespace quorate
