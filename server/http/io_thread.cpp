#include "server/http/io_thread.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <tuple>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "server/http/clients/places.h"
#include "server/http/listen_socket.h"
#include "server/http/text.h"

namespace quorate {
namespace {

constexpr int kMaxAcceptsAtOnce = 64;

// Signals are for the program's main thread. SIGPIPE, which sendfile and
// OpenSSL can raise, comes to the thread that writes: blocked, it is lost, and
// the write fails as it should.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// To a client over the limit, which gets no connection.
void say_busy(int socket) {
  static constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\n"
      "Content-Length: 0\r\nConnection: close\r\n\r\n";
  std::ignore =
      ::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Another user of this machine takes no more connections than another machine;
// who serves may have any number.
Places places_of_user(std::uint32_t user) {
  if (user == ::geteuid()) return {};
  return {{fmt::format("user {}", user)}};
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ENOMEM;
}

}  // namespace

IoThread::IoThread(HttpShared& shared)
    : shared_(shared),
      scratch_(std::make_unique<std::array<std::uint8_t, 256 << 10>>()) {}

IoThread::~IoThread() {
  clear();
}

void IoThread::add_listener(FileDescriptor socket, const Listener& listener) {
  acceptors_.push_back(std::unique_ptr<Acceptor>(
      new Acceptor{Descriptor(io_, socket.get()), listener}));
  socket.release();
  wait_for_clients(*acceptors_.back());
}

void IoThread::run() {
  block_signals();
  sweep();
  while (!io_.stopped()) {
    try {
      io_.run();
    } catch (const std::exception& error) {
      log_error("http_thread_failed", {{"error", error.what()}});
    }
  }
}

void IoThread::begin_stop() {
  boost::asio::post(io_, [this] { stop_connections(); });
}

void IoThread::clear() {
  acceptors_.clear();
  connections_.clear();
}

void IoThread::stop_connections() {
  // Their waits are cancelled now, but may come back once more.
  for (auto& acceptor : acceptors_) acceptor->socket.close();
  for (auto& [key, connection] : connections_) connection->stop_gracefully();
}

void IoThread::retire(Connection& connection) {
  boost::asio::post(io_,
                    [this, key = &connection] { connections_.erase(key); });
}

void IoThread::wait_for_clients(Acceptor& acceptor) {
  acceptor.socket.async_wait(
      Descriptor::wait_read,
      [this, &acceptor](const boost::system::error_code& error) {
        if (error || !acceptor.socket.is_open()) return;
        accept_clients(acceptor);
      });
}

void IoThread::accept_clients(Acceptor& acceptor) {
  for (int i = 0; i < kMaxAcceptsAtOnce; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    FileDescriptor socket(::accept4(acceptor.socket.native_handle(),
                                    reinterpret_cast<sockaddr*>(&address),
                                    &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      admit(std::move(socket), address, acceptor.listener);
    } else if (is_shortage(errno)) {
      // The waiting client would wake us at once again and again.
      log_warning("http_accept_paused", {{"error", std::strerror(errno)}});
      acceptor.is_paused = true;
      return;
    } else if (errno != ECONNABORTED && errno != EINTR) {
      break;
    }
  }
  wait_for_clients(acceptor);
}

void IoThread::admit(FileDescriptor socket, const sockaddr_storage& address,
                     const Listener& listener) {
  std::string client = text_of(address);
  const bool is_proxy = shared_.is_trusted(client);
  ++shared_.connections;
  std::optional<std::uint32_t> user;
  if (listener.is_unix) user = user_at(socket.get());
  auto ticket = shared_.admission.enter(
      user                           ? places_of_user(*user)
      : is_proxy || listener.is_unix ? Places()
                                     : places_of(client),
      shared_.who_is(client, listener.is_unix));
  if (!ticket) {
    ++shared_.connections_refused;
    if (!listener.tls) say_busy(socket.get());
    return;
  }
  try {
    auto connection = std::make_unique<Connection>(
        *this, listener, std::move(socket),
        Remote{std::move(client), is_proxy, user, std::move(*ticket)});
    Connection& started = *connection;
    connections_.emplace(&started, std::move(connection));
    started.start();
  } catch (const std::exception& error) {
    log_error("http_accept_failed", {{"error", error.what()}});
  }
}

void IoThread::wait_for_sweep() {
  timer_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      limits().sweep_interval));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
}

void IoThread::sweep() {
  date_ = http_date(SystemClock().unix_ms());
  for (auto& acceptor : acceptors_) {
    if (!std::exchange(acceptor->is_paused, false)) continue;
    if (acceptor->socket.is_open()) wait_for_clients(*acceptor);
  }
  Instant time = now();
  for (auto& [key, connection] : connections_) connection->sweep(time);
  wait_for_sweep();
}

}  // namespace quorate
