// One I/O thread: its event loop, its acceptors, its connections. Connections
// never change threads and share nothing. Internal to server/http.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// Asio 1.74 needs <utility> first.
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "server/http/admission.h"
#include "server/http/body_budget.h"
#include "server/http/connection.h"
#include "server/http/server.h"
#include "server/http/tls/tls_context.h"

namespace quorate {

// What the threads of one server share.
struct HttpShared {
  explicit HttpShared(HttpOptions o)
      : options(std::move(o)),
        admission(options.limits.max_connections,
                  options.limits.max_connections_per_address),
        body_budget(options.limits.large_bodies_memory),
        answer_budget(options.limits.large_answers_memory) {}

  // Whether it is the address of a proxy whose word is believed.
  bool is_trusted(const std::string& address) const {
    if (options.trusted_proxies.empty()) return false;
    const auto ip = parse_ip(address);
    return ip && contains(options.trusted_proxies, *ip);
  }

  // Of a connection, by the address that the kernel has of it.
  Admission::Who who_is(const std::string& address, bool is_local) const {
    if (is_local) return Admission::Who::local;
    const KnownClients* known = options.known_clients;
    const bool is_known =
        is_trusted(address) || (known != nullptr && known->contains(address));
    return is_known ? Admission::Who::known : Admission::Who::stranger;
  }

  const HttpOptions options;
  Admission admission;
  BodyBudget body_budget;
  BodyBudget answer_budget;
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> connections_refused{0};
  std::atomic<std::uint64_t> connections_timed_out{0};
  std::atomic<std::uint64_t> requests{0};
  Traffic traffic;
};

struct Listener {
  Router router;
  TlsContext tls;  // null: plain
  bool is_unix = false;
};

class IoThread {
 public:
  explicit IoThread(HttpShared& shared);
  ~IoThread();

  // Before run().
  void add_listener(FileDescriptor socket, const Listener& listener);
  // Serves until end(), on the calling thread.
  void run();
  // These two from any thread.
  void begin_stop();
  void end() { io_.stop(); }
  // After run() has returned: ends every connection.
  void clear();

  // For its connections:
  boost::asio::io_context& io() { return io_; }
  HttpShared& shared() { return shared_; }
  const HttpLimits& limits() const { return shared_.options.limits; }
  Instant now() const { return SystemClock().now(); }
  std::string_view date() const { return date_; }
  // 256 KB, for use within one callback: far more than a connection could
  // own, and large enough for the disk.
  std::span<std::uint8_t> scratch() { return *scratch_; }
  // Destroys the connection once the current callback is over.
  void retire(Connection& connection);

 private:
  using Descriptor = boost::asio::posix::basic_stream_descriptor<
      boost::asio::io_context::executor_type>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock,
      boost::asio::wait_traits<std::chrono::steady_clock>,
      boost::asio::io_context::executor_type>;
  struct Acceptor {
    Descriptor socket;
    const Listener& listener;
    bool is_paused = false;
  };

  void wait_for_clients(Acceptor& acceptor);
  void accept_clients(Acceptor& acceptor);
  void admit(FileDescriptor socket, const sockaddr_storage& address,
             const Listener& listener);
  void wait_for_sweep();
  void sweep();
  void stop_connections();

  HttpShared& shared_;
  boost::asio::io_context io_{1};
  Timer timer_{io_};
  std::unique_ptr<std::array<std::uint8_t, 256 << 10>> scratch_;
  std::string date_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
};

}  // namespace quorate
