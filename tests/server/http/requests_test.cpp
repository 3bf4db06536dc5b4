// Requests as they come over a socket: routes, bodies, uploads.
#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>

#include <doctest/doctest.h>

#include "base/crypto.h"
#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"

using namespace quorate;
using namespace quorate::test;

namespace {

std::string post(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("a request reaches its handler with all its parts") {
  Router router;
  router.add(Method::get, "/v1/objects/{hash}",
             [](Request& request, Responder responder) {
               responder.send(text(request.path + "|" +
                                   std::string(request.path_value("hash")) +
                                   "|" + std::string(request.query_value("q")) +
                                   "|" + std::string(request.header("x-me")) +
                                   "|" + request.remote_address));
             });
  TestServer server(std::move(router));
  RawHttp client(server.port());

  RawResponse response = client.exchange(
      "GET /v1/objects/a%62c?q=1+2 HTTP/1.1\r\nX-Me: you\r\n\r\n");

  CHECK(response.status == 200);
  CHECK(response.body == "/v1/objects/abc|abc|1 2|you|127.0.0.1");
  CHECK(response.headers["Connection"] == "keep-alive");
  CHECK(response.headers["Content-Type"] == "text/plain");
  CHECK(response.headers.count("Date") == 1);

  SUBCASE("HEAD is GET without the body") {
    response = client.exchange("HEAD /v1/objects/x HTTP/1.1\r\n\r\n", false);
    CHECK(response.status == 200);
    CHECK(response.headers["Content-Length"] == "27");
    CHECK(client.exchange("GET /v1/objects/y HTTP/1.1\r\n\r\n").body ==
          "/v1/objects/y|y|||127.0.0.1");
  }
  SUBCASE("unknown paths, methods and broken targets leave the connection") {
    CHECK(client.exchange("GET /none HTTP/1.1\r\n\r\n").status == 404);
    response = client.exchange("PUT /v1/objects/x HTTP/1.1\r\n\r\n");
    CHECK(response.status == 405);
    CHECK(response.headers["Allow"] == "GET, HEAD");
    CHECK(response.body.find(R"("kind":"unsupported")") == 1);
    CHECK(client.exchange("BREW /v1/objects/x HTTP/1.1\r\n\r\n").status == 405);
    CHECK(client.exchange("GET /%zz HTTP/1.1\r\n\r\n").status == 400);
  }
  SUBCASE("the connection ends when the client asks for it") {
    client.send("GET /v1/objects/x HTTP/1.1\r\nConnection: close\r\n\r\n");
    CHECK(client.receive().headers["Connection"] == "close");
    CHECK(client.receive_all().empty());
  }
  SUBCASE("HTTP/1.0 ends it unless asked not to") {
    client.send("GET /v1/objects/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client.receive().headers["Connection"] == "keep-alive");
    client.send("\r\nGET /v1/objects/x HTTP/1.0\r\n\r\n");
    CHECK(client.receive().headers["Connection"] == "close");
    CHECK(client.receive_all().empty());
  }
}

TEST_CASE("what is not HTTP is refused") {
  Router router;
  router.add(Method::post, "/", echo(), 100);
  TestServer server(std::move(router));
  for (std::string bad :
       {"nonsense\r\n\r\n", "GET / HTTP/3.0\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
        "POST / HTTP/1.1\r\nX: a\r\n\tb\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length:\r\n 0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n"
        "Transfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n"
        "Transfer-Encoding: chunked, gzip\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\nabcdef\r\n"}) {
    CAPTURE(bad);
    RawHttp client(server.port());
    RawResponse response = client.exchange(bad);
    CHECK(response.status == 400);
    CHECK(response.headers["Connection"] == "close");
    CHECK(client.receive_all().empty());
  }
}

TEST_CASE("who speaks TLS where there is none is told at once") {
  TestServer server(Router{});
  RawHttp client(server.port());
  client.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8));
  RawResponse response = client.receive();
  CHECK(response.status == 400);
  CHECK(response.body.find("expected plain HTTP, not TLS") !=
        std::string::npos);
  CHECK(client.receive_all().empty());
}

TEST_CASE("small bodies come whole, up to the route's limit") {
  std::atomic<int> calls = 0;
  Router router;
  router.add(
      Method::post, "/echo",
      [&calls](Request& request, Responder responder) {
        ++calls;
        echo()(request, std::move(responder));
      },
      100'000);
  TestServer server(std::move(router));
  RawHttp client(server.port());

  SUBCASE("of every size") {
    for (std::size_t size : {0u, 1u, 16'000u, 99'999u, 100'000u}) {
      CAPTURE(size);
      std::string body(size, 'x');
      RawResponse response = client.exchange(post("/echo", body));
      CHECK(response.status == 200);
      CHECK((response.body == body));
    }
  }
  SUBCASE("not one byte more, and before it is read") {
    RawResponse response = client.exchange(
        "POST /echo HTTP/1.1\r\nContent-Length: 100001\r\n\r\n");
    CHECK(response.status == 413);
    CHECK(response.body.find("denied") != std::string::npos);
    CHECK(client.receive_all().empty());
    CHECK(calls == 0);
  }
  SUBCASE("a route without a limit takes no body") {
    Router bare;
    bare.add(Method::post, "/", echo());
    TestServer other(std::move(bare));
    RawHttp second(other.port());
    CHECK(second.exchange(post("/", "a")).status == 413);
  }
  SUBCASE("the client may ask before it sends") {
    client.send(
        "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n"
        "Expect: 100-continue\r\n\r\n");
    CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(client.exchange("abc").body == "abc");

    client.send("POST /echo HTTP/1.1\r\nExpect: wonders\r\n\r\n");
    CHECK(client.receive().status == 417);
  }
  SUBCASE("asking too much is refused without the body") {
    client.send(
        "POST /echo HTTP/1.1\r\nContent-Length: 100001\r\n"
        "Expect: 100-continue\r\n\r\n");
    CHECK(client.receive().status == 413);
  }
  SUBCASE("a body that ends too early calls nobody") {
    client.send("POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort");
    client.finish();
    CHECK(client.receive_all().empty());
    CHECK(calls == 0);
  }
}

TEST_CASE("chunked bodies are put together, up to the limit") {
  Router router;
  router.add(Method::post, "/echo", echo(), 10);
  TestServer server(std::move(router));
  RawHttp client(server.port());
  const std::string head =
      "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

  CHECK(client.exchange(head + "3\r\nabc\r\n7;x=y\r\ndefghij\r\n0\r\n\r\n")
            .body == "abcdefghij");
  CHECK(client.exchange(head + "1\r\na\r\n0\r\nTrailer: x\r\n\r\n").body ==
        "a");
  // Byte by byte.
  for (char c : head + "3\r\nabc\r\n0\r\n\r\n") client.send({&c, 1});
  CHECK(client.receive().body == "abc");

  SUBCASE("a byte more is refused") {
    client.send(head + "b\r\nabcdefghijk\r\n0\r\n\r\n");
    CHECK(client.receive().status == 413);
  }
  SUBCASE("so is a chunk whose head has no end") {
    client.send(head + "1;" + std::string(20'000, 'x'));
    CHECK(client.receive().status == 400);
  }
}

TEST_CASE("requests in one packet are answered in order") {
  Router router;
  router.add(Method::post, "/echo", echo(), 100);
  TestServer server(std::move(router));
  RawHttp client(server.port());

  std::string all;
  for (int i = 0; i < 500; ++i) all += post("/echo", std::to_string(i));
  client.send(all);

  for (int i = 0; i < 500; ++i) {
    REQUIRE(client.receive().body == std::to_string(i));
  }
}

namespace {

struct UploadLog {
  std::mutex mutex;
  int opened = 0, broken_off = 0;
  std::size_t largest_piece = 0;
};

class HashingSink final : public BodySink {
 public:
  explicit HashingSink(UploadLog& log) : log_(log) {}
  ~HashingSink() override {
    std::lock_guard lock(log_.mutex);
    if (!is_finished_) ++log_.broken_off;
  }
  void write(ByteView bytes) override {
    hash_.update(bytes);
    std::lock_guard lock(log_.mutex);
    log_.largest_piece = std::max(log_.largest_piece, bytes.size());
    if (bytes[0] == '!') throw Error(ErrorKind::corrupt, "no shouting");
  }
  void finish(Request& request, Responder responder) override {
    is_finished_ = true;
    responder.send(text(request.path + " " + hash_.finish().hex()));
  }

 private:
  UploadLog& log_;
  Sha256 hash_;
  bool is_finished_ = false;
};

Router upload_routes(UploadLog& log) {
  Router router;
  router.add_upload(
      Method::put, "/up/{id}",
      [&log](Request& request)
          -> std::variant<std::unique_ptr<BodySink>, Response> {
        if (request.header("authorization").empty()) {
          return error_response(401, ErrorKind::denied, "who are you?");
        }
        if (request.path_value("id") == "0") {
          throw Error(ErrorKind::unavailable, "the disk is full");
        }
        std::lock_guard lock(log.mutex);
        ++log.opened;
        return std::make_unique<HashingSink>(log);
      },
      64 << 20);
  return router;
}

std::string put(const std::string& path, std::size_t size) {
  return "PUT " + path + " HTTP/1.1\r\nAuthorization: me\r\nContent-Length: " +
         std::to_string(size) + "\r\n\r\n";
}

int broken_off(UploadLog& log) {
  std::lock_guard lock(log.mutex);
  return log.broken_off;
}

}  // namespace

TEST_CASE("a large body streams into its sink") {
  UploadLog log;
  TestServer server(upload_routes(log));
  RawHttp client(server.port());

  SUBCASE("whole, in pieces, twice on one connection") {
    std::string body(20'000'000, 'q');
    std::string expected = "/up/7 " + sha256(as_bytes(body)).hex();
    for (int i = 0; i < 2; ++i) {
      client.send(put("/up/7", body.size()) + body);
      RawResponse response = client.receive();
      CHECK(response.status == 200);
      CHECK(response.body == expected);
    }
    CHECK(log.largest_piece <= 256 << 10);
    CHECK(broken_off(log) == 0);
  }
  SUBCASE("chunked") {
    client.send(
        "PUT /up/7 HTTP/1.1\r\nAuthorization: me\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    CHECK(client.receive().body == "/up/7 " + sha256(as_bytes("abc")).hex());
  }
  SUBCASE("an empty one") {
    CHECK(client.exchange(put("/up/7", 0)).body == "/up/7 " + sha256({}).hex());
  }
  SUBCASE("refused by its head") {
    CHECK(client.exchange("PUT /up/7 HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
              .status == 401);
    CHECK(RawHttp(server.port()).exchange(put("/up/0", 5)).status == 503);
    CHECK(RawHttp(server.port()).exchange(put("/up/7", 65 << 20)).status ==
          413);
    CHECK(log.opened == 0);
  }
  SUBCASE("refused in the middle, while the client still sends") {
    client.send(put("/up/7", 30'000'000) + "!");
    std::string rest(3'000'000, 'x');
    client.send(rest);
    RawResponse response = client.receive();
    CHECK(response.status == 400);
    CHECK(response.body.find("no shouting") != std::string::npos);
    CHECK(broken_off(log) == 1);
  }
  SUBCASE("broken off by the client") {
    client.send(put("/up/7", 100) + "half of it");
    client.finish();
    CHECK(client.receive_all().empty());
    CHECK(broken_off(log) == 1);
  }
}

TEST_CASE("an upload that trickles is broken off") {
  UploadLog log;
  HttpLimits limits = watchful();
  limits.rate_window = kSoon;
  TestServer server(upload_routes(log), limits);
  RawHttp client(server.port());
  client.send(put("/up/7", 1000));
  while (client.send("x") && broken_off(log) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(broken_off(log) == 1);
  CHECK(server.server().counters().connections_timed_out == 1);
}
