// Clients that want too much, or take too long.
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;
using namespace quorate::test;

namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\n\r\n";

Router hello() {
  Router router;
  router.add(Method::get, "/", [](Request&, Responder responder) {
    responder.send(text("hello"));
  });
  router.add(Method::post, "/", echo(), 1000);
  return router;
}

// Sends `bytes` one by one until the server closes.
void trickle(RawHttp& client, const std::string& bytes) {
  for (char c : bytes) {
    if (!client.send({&c, 1})) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

TEST_CASE("a head over 16 KB is refused") {
  TestServer server(hello());
  auto get = [](std::size_t size) {
    std::string head = "GET / HTTP/1.1\r\nX: \r\n\r\n";
    return head.insert(19, std::string(size - head.size(), 'x'));
  };
  SUBCASE("at the limit it is taken") {
    RawHttp client(server.port());
    CHECK(client.exchange(get(16 << 10)).status == 200);
    CHECK(client.exchange(kGet).status == 200);
  }
  SUBCASE("a byte more is not") {
    RawHttp client(server.port());
    RawResponse response = client.exchange(get((16 << 10) + 1));
    CHECK(response.status == 431);
    CHECK(client.receive_all().empty());
  }
  SUBCASE("nor one without an end") {
    RawHttp client(server.port());
    client.send("GET / HTTP/1.1\r\n");
    for (int i = 0; i < 2000; ++i) client.send("X-Field: value\r\n");
    CHECK(client.receive().status == 431);
  }
  SUBCASE("nor one with a hundred and one fields") {
    std::string head = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 101; ++i) head += "X: y\r\n";
    RawHttp client(server.port());
    CHECK(client.exchange(head + "\r\n").status == 400);
  }
}

TEST_CASE("a client that takes too long is sent away") {
  HttpLimits limits = watchful();
  std::function<void(RawHttp&)> act;
  SUBCASE("idle from the start") {
    limits.head_deadline = kSoon;
    act = [](RawHttp&) {};
  }
  SUBCASE("idle between requests") {
    limits.idle_deadline = kSoon;
    act = [](RawHttp& client) { CHECK(client.exchange(kGet).status == 200); };
  }
  SUBCASE("trickling its head") {
    limits.head_deadline = kSoon;
    act = [](RawHttp& client) {
      trickle(client, "GET / HTTP/1.1\r\nX: " + std::string(1000, 'x'));
    };
  }
  SUBCASE("trickling its second head") {
    limits.head_deadline = Seconds(1);
    act = [](RawHttp& client) {
      CHECK(client.exchange(kGet).status == 200);
      trickle(client, "GET / HTTP/1.1\r\nX: " + std::string(1000, 'x'));
    };
  }
  SUBCASE("trickling its body") {
    limits.body_deadline = kSoon;
    act = [](RawHttp& client) {
      client.send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n");
      trickle(client, std::string(999, 'x'));
    };
  }
  TestServer server(hello(), limits);
  RawHttp client(server.port());
  act(client);
  CHECK(client.receive_all().empty());
  CHECK(server.server().counters().connections_timed_out == 1);
}

TEST_CASE("a reader that stands still is sent away") {
  // Given a body far larger than what the kernel holds for a connection
  Router router;
  router.add(Method::get, "/", [](Request&, Responder responder) {
    Response response;
    response.body = Bytes(64 << 20);
    responder.send(std::move(response));
  });
  HttpLimits limits = watchful();
  limits.rate_window = kSoon;
  TestServer server(std::move(router), limits);
  RawHttp client(server.port());
  client.send(kGet);
  while (server.server().counters().connections_timed_out == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(client.receive_all().size() < 64 << 20);
}

TEST_CASE("there are only so many connections") {
  HttpLimits limits;
  limits.crowded_deadline = Seconds(600);
  SUBCASE("in all") {
    limits.max_connections = 3;
  }
  SUBCASE("from one address") {
    limits.max_connections_per_address = 3;
  }
  TestServer server(hello(), limits, 2);
  {
    RawHttp a(server.port()), b(server.port()), c(server.port());
    CHECK(a.exchange(kGet).status == 200);
    CHECK(b.exchange(kGet).status == 200);
    CHECK(c.exchange(kGet).status == 200);
    CHECK(server.server().counters().connections_open == 3);

    RawHttp d(server.port());
    CHECK(d.receive().status == 503);
    CHECK(d.receive_all().empty());
    CHECK(server.server().counters().connections_refused == 1);
  }
  // Places are given back.
  while (server.server().counters().connections_open > 0) {
    std::this_thread::yield();
  }
  CHECK(RawHttp(server.port()).exchange(kGet).status == 200);
}

TEST_CASE("who asks for nothing makes room when connections run short") {
  HttpLimits limits = watchful();
  limits.crowded_deadline = kSoon;
  limits.max_connections = 10;
  TestServer server(hello(), limits);
  std::vector<RawHttp> few;
  for (int i = 0; i < 8; ++i) few.emplace_back(server.port());
  for (RawHttp& one : few) CHECK(one.exchange(kGet).status == 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK(server.server().counters().connections_timed_out == 0);
  std::vector<RawHttp> more;
  for (int i = 0; i < 2; ++i) more.emplace_back(server.port());
  for (RawHttp& one : few) CHECK(one.receive_all().empty());
  while (server.server().counters().connections_open > 2) {
    std::this_thread::yield();
  }
  CHECK(RawHttp(server.port()).exchange(kGet).status == 200);
}

TEST_CASE("strangers leave connections to those who are known") {
  ManualClock clock;
  KnownClients known(clock);
  known.note("127.0.0.2");
  HttpOptions options;
  options.limits.max_connections = 20;
  options.limits.crowded_deadline = Seconds(600);
  options.known_clients = &known;
  HttpServer server(options);
  const std::uint16_t port = server.listen({"0.0.0.0", 0, {}}, hello());
  server.start();
  std::vector<RawHttp> strangers;
  for (int i = 0; i < 19; ++i) strangers.emplace_back(port);
  for (RawHttp& one : strangers) CHECK(one.exchange(kGet).status == 200);
  CHECK(RawHttp(port).receive().status == 503);
  RawHttp volunteer(port, "127.0.0.2");
  CHECK(volunteer.exchange(kGet).status == 200);
  CHECK(RawHttp(port, "127.0.0.2").receive().status == 503);
}

TEST_CASE("an operator gets in when all connections are taken") {
  TemporaryFolder folder;
  HttpLimits limits;
  limits.max_connections = 2;
  limits.crowded_deadline = Seconds(600);
  HttpServer server({1, limits, {}});
  const std::uint16_t port = server.listen({}, hello());
  server.listen_unix(folder / "socket", hello());
  server.start();
  RawHttp a(port), b(port);
  CHECK(a.exchange(kGet).status == 200);
  CHECK(b.exchange(kGet).status == 200);
  CHECK(RawHttp(port).receive().status == 503);
  CHECK(RawHttp((folder / "socket").string()).exchange(kGet).status == 200);
}

TEST_CASE("who sends large bodies keeps only those out who do, too") {
  Router router;
  router.add(Method::post, "/", echo(), 1000);
  HttpLimits limits;
  limits.small_body_bytes = 100;
  limits.large_bodies_memory = 1000;
  TestServer server(std::move(router), limits);
  auto begin = [&](std::size_t bytes) {
    RawHttp client(server.port());
    client.send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" +
                std::string(bytes, 'x'));
    return client;
  };
  {
    RawHttp first = begin(600), second = begin(600);
    while (server.server().counters().bytes_in < 2 * 600) {
      std::this_thread::yield();
    }
    CHECK(begin(1000).receive().status == 503);
    RawHttp small(server.port());
    CHECK(small
              .exchange("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n" +
                        std::string(100, 'x'))
              .status == 200);
  }
  while (server.server().counters().connections_open > 0) {
    std::this_thread::yield();
  }
  RawHttp alone = begin(1000);
  CHECK(alone.receive().status == 200);
  alone.send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" +
             std::string(1000, 'x'));
  CHECK(alone.receive().status == 200);  // the first one's was given back
}

TEST_CASE("who does not read large answers keeps only those out who ask so") {
  constexpr std::size_t kLarge = 8 << 20;  // more than sockets take
  Router router;
  router.add(Method::get, "/large", [](Request&, Responder responder) {
    Response response;
    response.body = std::string(kLarge, 'x');
    responder.send(std::move(response));
  });
  router.add(Method::get, "/small",
             [](Request&, Responder responder) { responder.send(Response{}); });
  HttpLimits limits;
  limits.large_answers_memory = 2 * kLarge;
  TestServer server(std::move(router), limits);
  const std::string large = "GET /large HTTP/1.1\r\n\r\n";
  {
    std::vector<RawHttp> mute;
    for (int i = 0; i < 2; ++i) {
      mute.emplace_back(server.port());
      mute.back().send(large);
    }
    while (server.server().counters().requests < 2) std::this_thread::yield();
    RawHttp third(server.port());
    const auto refused = third.exchange(large);
    CHECK(refused.status == 503);
    CHECK(refused.body.find("too many large answers") != std::string::npos);
    CHECK(third.exchange("GET /small HTTP/1.1\r\n\r\n").status == 200);
  }
  while (server.server().counters().connections_open > 0) {
    std::this_thread::yield();
  }
  RawHttp alone(server.port());
  for (int i = 0; i < 3; ++i) CHECK(alone.exchange(large).status == 200);
}

TEST_CASE("a shortage of descriptors delays clients and loses none") {
  HttpServer server({1, watchful(), {}});
  std::uint16_t port = server.listen({}, hello());
  // They wait in the kernel's queue until the server accepts them.
  RawHttp a(port), b(port);
  a.send(kGet);
  b.send(kGet);
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  rlimit none_left = usual;
  none_left.rlim_cur = 1;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none_left) == 0);
  server.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(server.counters().connections == 0);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(a.receive().body == "hello");
  CHECK(b.receive().body == "hello");
}

TEST_CASE("another address has its own places") {
  HttpLimits limits;
  limits.max_connections_per_address = 1;
  HttpServer server({1, limits, {}});
  std::uint16_t port = server.listen({"0.0.0.0", 0, {}}, hello());
  server.start();
  RawHttp a(port);
  CHECK(a.exchange(kGet).status == 200);
  CHECK(RawHttp(port).receive().status == 503);
  CHECK(RawHttp(port, "127.0.0.2").exchange(kGet).status == 200);
}

TEST_CASE("stopping lets requests under way end well") {
  std::promise<Responder> taken;
  Router router = hello();
  router.add(Method::get, "/late", [&taken](Request&, Responder responder) {
    taken.set_value(std::move(responder));
  });
  TestServer server(std::move(router));
  RawHttp idle(server.port());
  CHECK(idle.exchange(kGet).status == 200);
  RawHttp busy(server.port());
  busy.send("GET /late HTTP/1.1\r\n\r\n");
  Responder responder = taken.get_future().get();

  SUBCASE("within the grace") {
    std::thread stopping([&] { server.server().stop(Seconds(30)); });
    CHECK(idle.receive_all().empty());  // idle connections end at once
    responder.send(text("done"));
    RawResponse response = busy.receive();
    CHECK(response.body == "done");
    CHECK(response.headers["Connection"] == "close");
    CHECK(busy.receive_all().empty());
    // The server lingers until the client has closed, too.
    { RawHttp closed = std::move(busy); }
    stopping.join();
    CHECK_THROWS(RawHttp(server.port()));
  }
  SUBCASE("but not longer") {
    server.server().stop(Seconds(0.05));
    CHECK(busy.receive_all().empty());
    CHECK_FALSE(responder.is_open());
  }
}
