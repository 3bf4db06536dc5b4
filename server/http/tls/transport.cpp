#include "server/http/tls/transport.h"

#include <algorithm>
#include <cerrno>

#include <openssl/err.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quorate {
namespace {

// One turn of sending: long enough to be efficient, short enough to be fair.
constexpr std::uint64_t kMaxSendFileBytes = 2 << 20;
constexpr std::size_t kTlsRecordBytes = 16 << 10;
// One turn of it; what of a file does not go out is read again.
constexpr std::size_t kMaxTlsBytes = 4 * kTlsRecordBytes;

bool must_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

IoResult sent(ssize_t n) {
  if (n > 0) return {IoStatus::done, static_cast<std::size_t>(n)};
  if (n < 0 && must_wait()) return {IoStatus::want_write};
  return {IoStatus::closed};
}

IoResult counted(IoResult result, std::atomic<std::uint64_t>& bytes) {
  bytes.fetch_add(result.bytes, std::memory_order_relaxed);
  return result;
}

template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t n;
  do {
    n = call();
  } while (n < 0 && errno == EINTR);
  return n;
}

}  // namespace

Transport::Transport(int fd, SSL_CTX* context, Traffic& traffic)
    : fd_(fd), traffic_(traffic) {
  if (!context) return;
  tls_.reset(SSL_new(context));
  if (!tls_ || SSL_set_fd(tls_.get(), fd) != 1) throw_tls("starting TLS");
  SSL_set_accept_state(tls_.get());
}

IoResult Transport::tls_result(int returned) const {
  if (returned > 0) return {IoStatus::done, static_cast<std::size_t>(returned)};
  switch (SSL_get_error(tls_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {IoStatus::want_read};
    case SSL_ERROR_WANT_WRITE:
      return {IoStatus::want_write};
    default:
      return {IoStatus::closed};
  }
}

IoResult Transport::handshake() {
  if (!tls_) return {IoStatus::done, 1};
  ERR_clear_error();
  return tls_result(SSL_do_handshake(tls_.get()));
}

IoResult Transport::read(std::span<std::uint8_t> to) {
  return counted(read_some(to), traffic_.in);
}

IoResult Transport::read_plain(std::span<std::uint8_t> to) {
  return counted(receive(to), traffic_.in);
}

IoResult Transport::write(ByteView bytes, bool more) {
  return counted(write_some(bytes, more), traffic_.out);
}

IoResult Transport::send_file(int file, std::uint64_t offset,
                              std::uint64_t length,
                              std::span<std::uint8_t> scratch) {
  return counted(send_some(file, offset, length, scratch), traffic_.out);
}

IoResult Transport::read_some(std::span<std::uint8_t> to) {
  if (tls_) {
    ERR_clear_error();
    return tls_result(
        SSL_read(tls_.get(), to.data(), static_cast<int>(to.size())));
  }
  return receive(to);
}

IoResult Transport::receive(std::span<std::uint8_t> to) const {
  ssize_t n = uninterrupted(
      [&] { return ::recv(fd_, to.data(), to.size(), MSG_DONTWAIT); });
  if (n > 0) return {IoStatus::done, static_cast<std::size_t>(n)};
  if (n < 0 && must_wait()) return {IoStatus::want_read};
  return {IoStatus::closed};
}

IoResult Transport::write_some(ByteView bytes, bool more) {
  if (tls_) return write_records(bytes);
  int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
  return sent(uninterrupted(
      [&] { return ::send(fd_, bytes.data(), bytes.size(), flags); }));
}

// SSL_write takes one record at a time (SSL_MODE_ENABLE_PARTIAL_WRITE).
IoResult Transport::write_records(ByteView bytes) {
  bytes = bytes.first(std::min(bytes.size(), kMaxTlsBytes));
  std::size_t written = 0;
  while (written < bytes.size()) {
    ERR_clear_error();
    std::size_t size = std::min(bytes.size() - written, kTlsRecordBytes);
    IoResult result = tls_result(
        SSL_write(tls_.get(), bytes.data() + written, static_cast<int>(size)));
    // The next call meets a lasting reason again.
    if (result.status != IoStatus::done && written == 0) return result;
    if (result.status != IoStatus::done) break;
    written += result.bytes;
  }
  return {IoStatus::done, written};
}

IoResult Transport::send_some(int file, std::uint64_t offset,
                              std::uint64_t length,
                              std::span<std::uint8_t> scratch) {
  auto at = static_cast<off_t>(offset);
  if (!tls_) {
    std::size_t size = std::min(length, kMaxSendFileBytes);
    return sent(
        uninterrupted([&] { return ::sendfile(fd_, file, &at, size); }));
  }
  std::size_t size =
      std::min<std::uint64_t>(length, std::min(scratch.size(), kMaxTlsBytes));
  ssize_t n =
      uninterrupted([&] { return ::pread(file, scratch.data(), size, at); });
  if (n <= 0) return {IoStatus::closed};
  return write_some(scratch.first(static_cast<std::size_t>(n)), false);
}

bool Transport::has_buffered() const {
  return tls_ && SSL_has_pending(tls_.get()) == 1;
}

void Transport::close_write() {
  if (tls_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace quorate
