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
                         bool proxy_protocol = false,
                         HttpLimits limits = one_each())
      : http(options(trusted, proxy_protocol, limits)) {
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
                             bool proxy_protocol, const HttpLimits& limits) {
    HttpOptions options{1, limits, {}, proxy_protocol};
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

TEST_CASE("a proxy that speaks the PROXY protocol names its client") {
  ProxiedServer server({"127.0.0.1"}, true);
  RawHttp a(server.port);
  // The header and the request in one packet, then a second request.
  const std::string line = "PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n";
  CHECK(a.exchange(line + std::string(kGet)).body == "192.0.2.1");
  // It is no proxy's word any more.
  CHECK(a.exchange(kForwarded).body == "192.0.2.1");

  // The client has its limit, which a neighbour does not share.
  RawHttp second(server.port);
  RawResponse refused = second.exchange(line + std::string(kGet));
  CHECK(refused.status == 503);
  CHECK(second.receive_all().empty());
  CHECK(server.http.counters().connections_refused == 1);
  CHECK(RawHttp(server.port)
            .exchange("PROXY TCP4 192.0.2.2 192.0.2.9 1 1\r\n" +
                      std::string(kGet))
            .body == "192.0.2.2");
}

TEST_CASE("a whole /48 has sixteen times what an address has") {
  ProxiedServer server({"127.0.0.1"}, true);
  std::vector<RawHttp> open;
  int taken = 0;
  for (int i = 0; i < 24; ++i) {
    // Of 24 networks of /56, each with one /64.
    open.emplace_back(server.port);
    const std::string line =
        "PROXY TCP6 2001:db8:1:" + std::to_string(i + 10) + "00::1 ::1 1 1\r\n";
    if (open.back().exchange(line + std::string(kGet)).status == 200) ++taken;
  }
  CHECK(taken == 16);
  taken = 0;
  for (int i = 0; i < 8; ++i) {
    // Of one /56, 8 networks of /64.
    open.emplace_back(server.port);
    const std::string line =
        "PROXY TCP6 2001:db8:2:10" + std::to_string(i + 10) + "::1 ::1 1 1\r\n";
    if (open.back().exchange(line + std::string(kGet)).status == 200) ++taken;
  }
  CHECK(taken == 4);
}

TEST_CASE("its own checks and further proxies need no client") {
  ProxiedServer server({"127.0.0.1", "10.0.0.0/8"}, true);
  CHECK(RawHttp(server.port)
            .exchange("PROXY UNKNOWN\r\n" + std::string(kGet))
            .body == "127.0.0.1");
  RawHttp chain(server.port), other(server.port);
  const std::string line = "PROXY TCP4 10.0.0.7 127.0.0.1 1 1\r\n";
  CHECK(chain.exchange(line + std::string(kForwarded)).body == "192.0.2.9");
  CHECK(other.exchange(line + std::string(kGet)).body == "10.0.0.7");
}

TEST_CASE("a connection of such a proxy without the header is closed") {
  ProxiedServer server({"127.0.0.1"}, true);
  RawHttp plain(server.port);
  CHECK(plain.exchange(kGet).status == 0);
  RawHttp late(server.port);
  CHECK(late.exchange("PROXY TCP4 1.1.1.1 x 1 1\r\n" + std::string(kGet))
            .status == 0);
  CHECK(server.http.counters().requests == 0);
  // It is asked of them alone, and taken from them alone.
  CHECK(RawHttp(server.port, "127.0.0.2").exchange(kGet).body == "127.0.0.2");
  RawHttp stranger(server.port, "127.0.0.3");
  CHECK(stranger
            .exchange("PROXY TCP4 192.0.2.1 192.0.2.9 1 1\r\n" +
                      std::string(kGet))
            .status == 400);
}

TEST_CASE("a header that never ends is waited for no longer than a head") {
  HttpLimits limits = watchful();
  limits.head_deadline = kSoon;
  ProxiedServer server({"127.0.0.1"}, true, limits);
  RawHttp client(server.port);
  client.send("PROXY TCP4 ");
  CHECK(client.receive_all().empty());
  CHECK(server.http.counters().connections_timed_out == 1);
}
