// Proxies in front of the server: whose word is believed, and what follows.
#include <doctest/doctest.h>

#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"

using namespace quorate;
using namespace quorate::test;

namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\n\r\n";
constexpr std::string_view kForwarded =
    "GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n";

// Answers with the client's address; one connection from each.
struct ProxiedServer {
  explicit ProxiedServer(std::vector<const char*> trusted,
                         HttpLimits limits = one_each())
      : http(options(trusted, limits)) {
    Router router;
    router.add(Method::get, "/", [](Request& request, Responder responder) {
      responder.send(text(request.remote_address));
    });
    port = http.listen({"0.0.0.0", 0, {}}, std::move(router));
    http.start();
  }
  static HttpLimits one_each() {
    HttpLimits limits = watchful();
    limits.max_connections_per_address = 1;
    return limits;
  }
  static HttpOptions options(const std::vector<const char*>& trusted,
                             const HttpLimits& limits) {
    HttpOptions options{1, limits, {}};
    for (const char* block : trusted) {
      options.trusted_proxies.push_back(*parse_ip_block(block));
    }
    return options;
  }

  HttpServer http;
  std::uint16_t port = 0;
};

}  // namespace

TEST_CASE("a trusted proxy has no limit and names its clients") {
  ProxiedServer server({"127.0.0.0/31"});
  RawHttp a(server.port), b(server.port, "127.0.0.1");
  CHECK(a.exchange(kForwarded).body == "192.0.2.9");
  CHECK(b.exchange(kGet).body == "127.0.0.1");
  CHECK(b.exchange("GET / HTTP/1.1\r\nX-Forwarded-For: <b>\r\n\r\n").body ==
        "127.0.0.1");
  CHECK(b.exchange("GET / HTTP/1.1\r\nX-Forwarded-For: 6.6.6.6\r\n"
                   "X-Forwarded-For: 192.0.2.9, 127.0.0.1\r\n\r\n")
            .body == "192.0.2.9");
}

TEST_CASE("nobody else is believed") {
  ProxiedServer server({"127.0.0.1"});
  RawHttp stranger(server.port, "127.0.0.2");
  CHECK(stranger.exchange(kForwarded).body == "127.0.0.2");
  CHECK(RawHttp(server.port, "127.0.0.2").receive().status == 503);
  ProxiedServer alone({});
  CHECK(RawHttp(alone.port).exchange(kForwarded).body == "127.0.0.1");
}
