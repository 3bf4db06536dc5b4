// Answers: files, late ones, none at all, and streams of events.
#include <atomic>
#include <future>
#include <mutex>

#include <doctest/doctest.h>

#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;
using namespace quorate::test;

TEST_CASE("files are served whole, in part, or not again") {
  TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 3'000'000; ++i) {
    content += static_cast<char>('a' + i % 23);
  }
  write_file_durably(folder / "f", as_bytes(content));
  Router router;
  router.add(Method::get, "/f", [&folder](Request&, Responder responder) {
    responder.send(
        file_response(folder / "f", "application/octet-stream", "tag"));
  });
  TestServer server(std::move(router));
  RawHttp client(server.port());
  auto get = [&client](const std::string& more) {
    return client.exchange("GET /f HTTP/1.1\r\n" + more + "\r\n");
  };

  RawResponse whole = get("");
  CHECK(whole.status == 200);
  CHECK((whole.body == content));
  CHECK(whole.headers["ETag"] == "\"tag\"");
  CHECK(whole.headers["Accept-Ranges"] == "bytes");

  RawResponse part = get("Range: bytes=1000000-1999999\r\n");
  CHECK(part.status == 206);
  CHECK(part.headers["Content-Range"] == "bytes 1000000-1999999/3000000");
  CHECK((part.body == content.substr(1'000'000, 1'000'000)));

  RawResponse tail = get("Range: bytes=2999990-\r\nIf-Range: \"tag\"\r\n");
  CHECK((tail.body == content.substr(2'999'990)));

  RawResponse beyond = get("Range: bytes=3000000-\r\n");
  CHECK(beyond.status == 416);
  CHECK(beyond.headers["Content-Range"] == "bytes */3000000");

  RawResponse known = get("If-None-Match: \"tag\"\r\n");
  CHECK(known.status == 304);
  CHECK(known.headers.count("Content-Length") == 0);

  RawResponse head = client.exchange("HEAD /f HTTP/1.1\r\n\r\n", false);
  CHECK(head.headers["Content-Length"] == "3000000");
  CHECK(get("Range: bytes=-1\r\n").body == content.substr(2'999'999));

  // A refusal after it has its body: it is no answer to HEAD.
  client.exchange("HEAD /f HTTP/1.1\r\n\r\n", false);
  RawResponse refused = client.exchange("\x16\x03\x01\r\n\r\n");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("TLS") != std::string::npos);
}

TEST_CASE("a file that shrinks while it is sent ends the connection") {
  TemporaryFolder folder;
  write_file_durably(folder / "f", as_bytes("short"));
  Router router;
  router.add(Method::get, "/f", [&folder](Request&, Responder responder) {
    Response response = file_response(folder / "f", "", "");
    std::get<FileBody>(response.body).length = 100;
    responder.send(std::move(response));
  });
  TestServer server(std::move(router));
  RawHttp client(server.port());
  RawResponse response = client.exchange("GET /f HTTP/1.1\r\n\r\n");
  CHECK_FALSE(response.is_whole);
}

TEST_CASE("a large body from memory arrives") {
  Bytes content(5'000'000, 7);
  Router router;
  router.add(Method::get, "/", [&content](Request&, Responder responder) {
    Response response;
    response.body = content;
    responder.send(std::move(response));
  });
  TestServer server(std::move(router));
  RawHttp client(server.port());
  for (int i = 0; i < 2; ++i) {
    CHECK((client.exchange("GET / HTTP/1.1\r\n\r\n").body == as_text(content)));
  }
}

TEST_CASE("headers cannot be smuggled through values") {
  Router router;
  router.add(Method::get, "/", [](Request&, Responder responder) {
    Response response = text("ok");
    response.headers.emplace_back("X-Name", "a\r\nX-Evil: 1");
    responder.send(std::move(response));
  });
  TestServer server(std::move(router));
  RawHttp client(server.port());
  RawResponse response = client.exchange("GET / HTTP/1.1\r\n\r\n");
  CHECK(response.headers["X-Name"] == "a__X-Evil: 1");
  CHECK(response.headers.count("X-Evil") == 0);
}

TEST_CASE("a handler that fails says so") {
  Router router;
  router.add(Method::get, "/denied", [](Request&, Responder) {
    throw Error(ErrorKind::denied, "not you");
  });
  router.add(Method::get, "/io", [](Request&, Responder) {
    throw Error(ErrorKind::io, "/secret/path: broken");
  });
  router.add(Method::get, "/bug", [](Request&, Responder) {
    throw std::runtime_error("unexpected");
  });
  router.add(Method::get, "/dropped", [](Request&, Responder) {});
  TestServer server(std::move(router));
  RawHttp client(server.port());
  auto get = [&client](const char* path) {
    return client.exchange(std::string("GET ") + path + " HTTP/1.1\r\n\r\n");
  };

  RawResponse denied = get("/denied");
  CHECK(denied.status == 403);
  CHECK(denied.body ==
        R"({"kind":"denied","message":"not you","retry_after":null})");
  RawResponse io = get("/io");
  CHECK(io.status == 500);
  CHECK(io.body.find("secret") == std::string::npos);
  CHECK(get("/bug").status == 500);
  CHECK(get("/dropped").status == 500);
}

TEST_CASE("an answer may come later, from another thread") {
  std::promise<Responder> taken;
  Router router;
  router.add(Method::get, "/late", [&taken](Request&, Responder responder) {
    taken.set_value(std::move(responder));
  });
  router.add(Method::get, "/now", [](Request&, Responder responder) {
    responder.send(text("now"));
  });
  HttpLimits limits = watchful();
  limits.body_deadline = limits.idle_deadline = limits.rate_window = kSoon;
  TestServer server(std::move(router), limits);
  RawHttp client(server.port());
  client.send("GET /late HTTP/1.1\r\n\r\n");
  Responder responder = taken.get_future().get();
  std::promise<void> closed;
  responder.on_close([&closed] { closed.set_value(); });

  SUBCASE("and the requests behind it wait for it") {
    client.send("GET /now HTTP/1.1\r\n\r\n");
    CHECK(responder.is_open());
    // Longer than any deadline: waiting is the handler's choice.
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    std::thread([&] { responder.send(text("late")); }).join();
    CHECK(client.receive().body == "late");
    CHECK(client.receive().body == "now");
  }
  SUBCASE("and a client that has gone is noticed") {
    { RawHttp gone = std::move(client); }
    closed.get_future().get();
    CHECK_FALSE(responder.is_open());
    responder.send(text("nobody listens"));
  }
  SUBCASE("and dropping it is an error of ours") {
    { Responder dropped = std::move(responder); }
    CHECK(client.receive().status == 500);
  }
  SUBCASE("and it may come after the end of the server") {
    server.server().stop(Seconds(0));
    closed.get_future().get();
    CHECK_FALSE(responder.is_open());
    responder.send(text("too late"));
  }
}

TEST_CASE("many threads answer many clients") {
  std::mutex mutex;
  std::vector<Responder> waiting;
  Router router;
  router.add(Method::get, "/", [&](Request&, Responder responder) {
    std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
  });
  TestServer server(std::move(router), {}, 2);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        std::vector<Responder> mine;
        {
          std::lock_guard lock(mutex);
          mine.swap(waiting);
        }
        for (Responder& responder : mine) responder.send(text("yes"));
        std::this_thread::yield();
      }
    });
  }
  std::atomic<int> answers = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      RawHttp client(server.port());
      for (int n = 0; n < 200; ++n) {
        if (client.exchange("GET / HTTP/1.1\r\n\r\n").body == "yes") ++answers;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(answers == 1600);
}

TEST_CASE("events are pushed from any thread until somebody ends it") {
  std::promise<EventStream> started;
  std::promise<void> closed;
  Router router;
  router.add(Method::get, "/events", [&](Request&, Responder responder) {
    responder.on_close([&closed] { closed.set_value(); });
    EventStream stream = responder.start_events();
    stream.push(format_event("hello", "1"));
    started.set_value(std::move(stream));
  });
  HttpLimits limits = watchful();
  limits.event_keep_alive = Seconds(0.1);
  TestServer server(std::move(router), limits);
  RawHttp client(server.port());
  RawResponse head = client.exchange("GET /events HTTP/1.1\r\n\r\n");
  CHECK(head.status == 200);
  CHECK(head.headers["Content-Type"] == "text/event-stream");
  EventStream stream = started.get_future().get();
  CHECK(client.receive_until("\n\n") == "event: hello\ndata: 1\n\n");

  SUBCASE("text arrives, silence is filled with comments") {
    CHECK(client.receive_until("\n\n") == ": still here\n\n");
    CHECK(stream.push(format_event("loss", "0.5")));
    while (client.receive_until("\n\n") != "event: loss\ndata: 0.5\n\n") {
    }
    { EventStream ended = std::move(stream); }
    CHECK(client.receive_all().find("event") == std::string::npos);
  }
  SUBCASE("the client goes") {
    { RawHttp gone = std::move(client); }
    closed.get_future().get();
    CHECK_FALSE(stream.is_open());
    CHECK_FALSE(stream.push("x\n\n"));
  }
  SUBCASE("a client that does not read is dropped, not waited for") {
    std::string text(100'000, 'x');
    while (stream.push(text)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    closed.get_future().get();
    CHECK_FALSE(stream.is_open());
  }
  SUBCASE("the server stops") {
    server.server().stop(Seconds(60));
    closed.get_future().get();
    CHECK_FALSE(stream.push("x"));
    client.receive_all();
  }
}

TEST_CASE("HEAD of an event stream is only its head") {
  Router router;
  std::vector<EventStream> streams;
  router.add(Method::get, "/events", [&](Request&, Responder responder) {
    streams.push_back(responder.start_events());
  });
  TestServer server(std::move(router));
  RawHttp client(server.port());
  CHECK(client.exchange("HEAD /events HTTP/1.1\r\n\r\n").status == 200);
  CHECK(client.receive_all().empty());
}
