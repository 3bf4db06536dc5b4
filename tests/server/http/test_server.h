// A server on a free port of this machine, for one test.
#pragma once

#include <utility>

#include "server/http/server.h"

namespace quorate::test {

class TestServer {
 public:
  explicit TestServer(Router router, HttpLimits limits = {},
                      std::size_t threads = 1)
      : server_(HttpOptions{threads, limits, {}}),
        port_(server_.listen(TcpListener(), std::move(router))) {
    server_.start();
  }

  std::uint16_t port() const { return port_; }
  HttpServer& server() { return server_; }

 private:
  HttpServer server_;
  std::uint16_t port_;
};

// Deadlines are looked at often; a test shortens only the one it is about, for
// a busy machine may hold up any other step.
inline HttpLimits watchful() {
  HttpLimits limits;
  limits.sweep_interval = Seconds(0.02);
  return limits;
}

inline constexpr Seconds kSoon{0.3};

inline Response text(std::string body) {
  return text_response(200, "text/plain", std::move(body));
}

// A route that answers with its request's body.
inline Handler echo() {
  return [](Request& request, Responder responder) {
    responder.send(text(std::string(as_text(request.body))));
  };
}

}  // namespace quorate::test
