// The HTTP front: listens, speaks HTTP/1.1 (TLS or not) and calls the handlers
// of its routes. It knows connections, limits and deadlines, and nothing of
// what is served.
//
// The room server/http owns sockets, I/O threads and the requests under way,
// and is the only one that includes Boost. It may include base/ and
// server/http/tls and server/http/clients; headers that say "internal" are for
// this room alone, the others are message.h, router.h, responder.h, text.h and
// this one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "server/http/clients/ip_address.h"
#include "server/http/clients/known_clients.h"
#include "server/http/router.h"
#include "server/http/tls/tls.h"

namespace quorate {

class IoThread;
struct HttpShared;
struct Listener;

struct HttpLimits {
  std::size_t max_connections = 10'000;
  // Of one address: a university's hosts may share one. See places_of.
  std::size_t max_connections_per_address = 1'000;
  std::size_t max_head_bytes = 16 << 10;
  // Absolute: however the bytes trickle in.
  Seconds head_deadline{10};  // with the TLS handshake
  Seconds body_deadline{10};  // of bodies that go to memory
  Seconds idle_deadline{75};  // between requests
  // For a request's head, from the end of the one before, and for an event
  // stream, while nearly all connections are in use: who asks for nothing makes
  // room, and a client or a page connects again.
  Seconds crowded_deadline{3};
  // Of all requests' bodies in memory together, not counting the first
  // small_body_bytes of each: who sends large ones must not keep the others
  // out.
  std::uint64_t large_bodies_memory = 20 << 20;
  std::uint64_t small_body_bytes = 32 << 10;
  // Of all answers that wait in memory, likewise: who asks for large ones and
  // does not read them must not fill it.
  std::uint64_t large_answers_memory = 64 << 20;
  // Streamed uploads and all responses: a connection that moves less on
  // average in a window is closed.
  double min_bytes_per_second = 1024;
  Seconds rate_window{10};
  // How long a connection that we end may still send: so that the client can
  // read why.
  Seconds linger{2};
  Seconds event_keep_alive{15};
  // How often deadlines are looked at.
  Seconds sweep_interval{1};
};

struct HttpOptions {
  std::size_t threads = 2;
  HttpLimits limits;
  // Whose word for a client's address is believed, and who have no limit of
  // their own: they say it in X-Forwarded-For.
  std::vector<IpBlock> trusted_proxies;
  // They begin each connection with the PROXY protocol's header; one without
  // it is closed.
  bool proxy_protocol = false;
  // Who finds a connection when strangers have nearly all; outlives the server.
  // nullptr: nobody is known.
  const KnownClients* known_clients = nullptr;
};

struct TcpListener {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // any free one
  std::optional<TlsFiles> tls;
};

// Since the start.
struct HttpCounters {
  std::uint64_t connections = 0;
  std::uint64_t connections_open = 0;     // now
  std::uint64_t connections_refused = 0;  // over a limit
  std::uint64_t connections_timed_out = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes_in = 0;  // read and written, heads with bodies
  std::uint64_t bytes_out = 0;
};

// Built, given its listeners, started and stopped by one thread, which is none
// of its own. The handlers live as long as the server.
class HttpServer {
 public:
  explicit HttpServer(HttpOptions options);
  ~HttpServer();  // as stop(Seconds(0))
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Before start(); connections wait from then on. Returns the port. Throws io
  // when the port is taken or the TLS files do not load, usage for an address
  // that is none.
  std::uint16_t listen(const TcpListener& listener, Router router);
  // A unix-domain socket, removed by stop(). By default with mode 0600; if
  // is_for_all, every user who can reach the path may connect, and the handlers
  // decide by Request::local_user.
  void listen_unix(const fs::path& path, Router router,
                   bool is_for_all = false);

  void start();
  // Stops accepting, ends idle connections and event streams, waits up to
  // `grace` for requests under way, then ends those too.
  void stop(Seconds grace = Seconds(5));

  HttpCounters counters() const;

 private:
  std::unique_ptr<HttpShared> shared_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<IoThread>> io_threads_;
  std::vector<std::thread> threads_;
  std::vector<fs::path> unix_paths_;
};

}  // namespace quorate
