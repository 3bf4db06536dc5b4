#include "protocol/transfer/curl_transfer.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/transfer/refusal.h"
#include "server/http/server.h"
#include "tests/client/http_listener.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using test::HttpListener;

std::unique_ptr<Transfer> connect(const HttpListener& server) {
  return make_curl_transfer({server.url(), TlsTrust::authorities, ""});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("nobody on the way silences a client for longer than a day") {
  HttpReply reply;
  reply.status = 503;
  reply.retry_after = Seconds(1.8e19);
  CHECK(read_refusal(reply).retry_after == Seconds(24 * 3600));
  reply.body = R"({"kind":"unavailable","message":"no","retry_after":2000000})";
  CHECK(read_refusal(reply).retry_after == Seconds(24 * 3600));
  reply.body.clear();
  reply.retry_after = Seconds(12);
  CHECK(read_refusal(reply).retry_after == Seconds(12));
}

TEST_CASE("a request carries its parts, a reply its body and headers") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 503 Busy\r\nRetry-After: 12\r\nUpload-Offset: 34\r\n"
           "Content-Length: 4\r\nConnection: close\r\n\r\nbusy";
  });
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = "/v1/work";
  request.bearer = "secret";
  request.content_type = "application/json";
  request.body = as_bytes("{\"want\":1}");
  HttpReply reply = connect(server)->send(request, {});

  CHECK(reply.status == 503);
  CHECK(reply.body == "busy");
  CHECK(reply.retry_after == Seconds(12));
  CHECK(reply.upload_offset == 34);
  std::string seen = server.seen().at(0);
  CHECK(seen.rfind("POST /v1/work HTTP/1.1\r\n", 0) == 0);
  CHECK(contains(seen, "Authorization: Bearer secret\r\n"));
  CHECK(contains(seen, "Content-Type: application/json\r\n"));
  CHECK_FALSE(contains(seen, "Expect"));
  CHECK(seen.ends_with("\r\n\r\n{\"want\":1}"));
}

TEST_CASE("a range is asked for, and its pieces go to the sink") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 206 Partial\r\nContent-Range: bytes 4-9/10\r\n"
           "Content-Length: 6\r\nConnection: close\r\n\r\n456789";
  });
  std::string got;
  HttpRequest request;
  request.path = "/v1/objects/aa";
  request.from = 4;
  request.sink = [&](const HttpReply& head, ByteView piece) {
    CHECK(head.status == 206);
    CHECK(head.first_byte == 4);
    got += as_text(piece);
  };
  HttpReply reply = connect(server)->send(request, {});
  CHECK(got == "456789");
  CHECK(reply.body.empty());
  CHECK(contains(server.seen().at(0), "Range: bytes=4-\r\n"));
}

TEST_CASE("an upload says where it stands") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  });
  HttpRequest request;
  request.method = HttpMethod::put;
  request.path = "/v1/results/7/update";
  request.body = as_bytes("456789");
  request.from = 4;
  request.total = 10;
  CHECK(connect(server)->send(request, {}).status == 200);
  CHECK(server.seen().at(0).rfind("PUT ", 0) == 0);
  CHECK(contains(server.seen().at(0), "Content-Range: bytes 4-9/10\r\n"));
}

TEST_CASE("bytes are counted, and a limit does not harm them") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
           "12345";
  });
  Network network;
  network.down_limit = 1'000'000;
  network.up_limit = 1'000'000;
  auto transfer =
      make_curl_transfer({server.url(), TlsTrust::authorities, "", &network});
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = "/";
  request.body = as_bytes("1234567");
  CHECK(transfer->send(request, {}).body == "12345");
  CHECK(transfer->send(request, {}).body == "12345");
  CHECK(network.received == 10);
  CHECK(network.sent == 14);
}

TEST_CASE("what arrived of a reply that was cut off reaches the sink") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n"
           "\r\n0123";
  });
  std::string got;
  HttpRequest request;
  request.path = "/v1/objects/aa";
  request.sink = [&](const HttpReply&, ByteView piece) {
    got += as_text(piece);
  };
  try {
    connect(server)->send(request, {});
    FAIL_CHECK("was not told");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::unavailable);
  }
  CHECK(got == "0123");
}

TEST_CASE("what a sink throws leaves send") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
           "abc";
  });
  HttpRequest request;
  request.path = "/";
  request.sink = [](const HttpReply&, ByteView) {
    throw Error(ErrorKind::corrupt, "not what I wanted");
  };
  CHECK_THROWS_WITH_AS(connect(server)->send(request, {}), "not what I wanted",
                       Error);
}

TEST_CASE("an endless reply is cut off") {
  HttpListener server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" +
           std::string((1 << 20) + 1, 'x');
  });
  HttpRequest request;
  request.path = "/";
  CHECK_THROWS_WITH_AS(connect(server)->send(request, {}),
                       doctest::Contains("longer than"), Error);
}

TEST_CASE("a stop request ends a wait") {
  HttpListener server([](const std::string&) { return ""; });
  std::stop_source source;
  std::jthread stopper([&](const std::stop_token& end) {
    while (server.seen().empty() && !end.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    source.request_stop();
  });
  HttpRequest request;
  request.path = "/v1/work";
  CHECK_THROWS_WITH_AS(connect(server)->send(request, source.get_token()),
                       doctest::Contains("given up"), Error);
}

// What came of a request to a server whose certificate no authority signed.
std::string outcome(const std::string& url, TlsTrust trust,
                    const std::string& pin = "") {
  HttpRequest request;
  request.path = "/";
  try {
    return make_curl_transfer({url, trust, pin})->send(request, {}).body;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::denied);
    return error.what();
  }
}

TEST_CASE("a server is trusted by its authority or by its key, as was said") {
  quorate::test::TemporaryFolder folder;
  TlsFiles own{folder / "tls.crt", folder / "tls.key"};
  TlsFiles other{folder / "other.crt", folder / "other.key"};
  make_self_signed_certificate(own, "own");
  make_self_signed_certificate(other, "other");
  Router router;
  router.add(Method::get, "/", [](Request&, Responder responder) {
    responder.send(json_response(200, "{}"));
  });
  HttpServer server(HttpOptions{});
  std::uint16_t port = server.listen({"127.0.0.1", 0, own}, std::move(router));
  server.start();
  std::string url = "https://127.0.0.1:" + std::to_string(port);

  CHECK(contains(outcome(url, TlsTrust::authorities), "cannot be trusted"));
  CHECK(outcome(url, TlsTrust::pinned, public_key_pin(own.certificate)) ==
        "{}");
  CHECK(contains(
      outcome(url, TlsTrust::pinned, public_key_pin(other.certificate)),
      "somebody may be intercepting the connection"));
  CHECK(outcome(url, TlsTrust::unchecked) == "{}");
}

TEST_CASE("nobody there is told as such") {
  std::string url;
  {
    HttpListener gone([](const std::string&) { return ""; });
    url = gone.url();
  }
  HttpRequest request;
  request.path = "/";
  auto transfer = make_curl_transfer({url, TlsTrust::authorities, ""});
  CHECK_THROWS_WITH_AS(transfer->send(request, {}),
                       doctest::Contains(url.c_str()), Error);
}

}  // namespace
}  // namespace quorate::client
