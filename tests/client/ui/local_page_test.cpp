#include "client/ui/local_page.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "client/permission/prefs.h"
#include "server/http/server.h"
#include "tests/client/statement_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using test::RawHttp;
using test::RawResponse;

struct Fixture {
  test::TemporaryFolder root;
  DataFolder folder{root.path()};
  ManualClock clock;
  LocalPage page{folder, clock, [](const CurlOptions&) {
                   return std::make_unique<test::StatementServer>(
                       test::sealed(test::sample_statement()));
                 }};
  HttpServer server{HttpOptions{1, {}, {}}};
  std::uint16_t port = server.listen(TcpListener{}, page.router());
  std::string host = fmt::format("127.0.0.1:{}", port);
  std::string token = page.token();  // in the path
  std::string header_token = page.token();
  std::string more_headers;

  Fixture() {
    page.set_port(port);
    server.start();
  }

  RawResponse get(const std::string& name) {
    return RawHttp(port).exchange(
        fmt::format("GET /{}/{} HTTP/1.1\r\nHost: {}\r\n{}\r\n", token, name,
                    host, more_headers));
  }
  RawResponse post(const std::string& name, const std::string& body) {
    return RawHttp(port).exchange(fmt::format(
        "POST /{}/{} HTTP/1.1\r\nHost: {}\r\nX-Quorate-Token: "
        "{}\r\nContent-Length: {}\r\n{}\r\n{}",
        token, name, host, header_token, body.size(), more_headers, body));
  }
  bool is_paused() { return folder.pause(clock.unix_ms()).has_value(); }
};

TEST_CASE_FIXTURE(Fixture, "the page and its files are served") {
  CHECK(page.url() == fmt::format("http://{}/{}/page", host, token));
  RawResponse whole = get("page");
  CHECK(whole.status == 200);
  CHECK(whole.body.find("<!doctype html>") == 0);
  CHECK(whole.headers["Referrer-Policy"] == "no-referrer");
  CHECK(whole.headers["Content-Security-Policy"].find("default-src 'none'") ==
        0);
  CHECK(get("app.js").status == 200);
  CHECK(get("style.css").status == 200);
  std::string status = get("status").body;
  CHECK(status.find("\"cpu_percent\": 100") != std::string::npos);
  CHECK(status.find("\"headline\": \"no agent is running\"") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "no request is answered without the token") {
  for (const char* other : {"", "x", "00000000000000000000000000000000"}) {
    CAPTURE(other);
    token = other;
    for (const char* name : {"page", "app.js", "style.css", "status"}) {
      CHECK(get(name).status >= 400);
    }
    CHECK(post("pause", "{\"seconds\":0}").status >= 400);
  }
  token = page.token();
  CHECK(RawHttp(port)
            .exchange(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host))
            .status == 404);
  CHECK_FALSE(is_paused());
}

TEST_CASE_FIXTURE(Fixture, "a foreign name for this address gets nowhere") {
  for (const std::string& other :
       {std::string("evil.example"), fmt::format("evil.example:{}", port),
        std::string("127.0.0.1"), fmt::format("127.0.0.1:{}", port + 1)}) {
    CAPTURE(other);
    host = other;
    CHECK(get("status").status == 403);
    CHECK(post("pause", "{\"seconds\":0}").status == 403);
  }
  host = fmt::format("localhost:{}", port);
  CHECK(get("status").status == 200);
}

TEST_CASE_FIXTURE(Fixture, "a change needs the token in its header as well") {
  SUBCASE("none") {
    header_token = "";
  }
  SUBCASE("another") {
    header_token = std::string(32, '0');
  }
  SUBCASE("from another page") {
    more_headers = "Origin: http://127.0.0.1:1\r\n";
  }
  CHECK(post("pause", "{\"seconds\":0}").status == 403);
  CHECK(post("prefs", R"({"key":"cores","value":"1"})").status == 403);
  CHECK(post("attach", R"({"address":"https://host:1","name":""})").status ==
        403);
  CHECK_FALSE(is_paused());
  CHECK(load_prefs(folder.prefs_file()) == Prefs{});
}

TEST_CASE_FIXTURE(Fixture, "pause, snooze and resume") {
  more_headers = fmt::format("Origin: http://{}\r\n", host);
  CHECK(post("pause", "{\"seconds\":0}").status == 200);
  CHECK(is_paused());
  RawResponse resumed = post("resume", "{}");
  CHECK(resumed.body.find("\"paused\": false") != std::string::npos);
  CHECK_FALSE(is_paused());
  CHECK(post("finish", "{}").body.find("\"finishing\": true") !=
        std::string::npos);
  CHECK(folder.pause(clock.unix_ms())->finishes);
  CHECK(post("pause", "{\"seconds\":60}").status == 200);
  CHECK(is_paused());
  clock.advance(Seconds(61));
  CHECK_FALSE(is_paused());
}

TEST_CASE_FIXTURE(Fixture, "preferences are set as on the command line") {
  CHECK(post("prefs", R"({"key":"cores","value":"2"})").status == 200);
  CHECK(load_prefs(folder.prefs_file()).cores == 2);
  RawResponse refused = post("prefs", R"({"key":"cores","value":"many"})");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("preference cores: expected") != std::string::npos);
  CHECK(load_prefs(folder.prefs_file()).cores == 2);
}

TEST_CASE_FIXTURE(Fixture, "a project is joined and left") {
  const std::string id = fingerprint(test::sample_project());
  CHECK(post("attach", R"({"address":"https://host:1","name":"ada"})").status ==
        200);
  REQUIRE(folder.projects().size() == 1);
  CHECK(folder.projects()[0].user_name == "ada");
  CHECK(folder.has_host_key());
  const std::string other(id.size(), '0');
  RawResponse stranger = post(
      "attach",
      fmt::format(R"({{"address":"https://host:1#{}","name":""}})", other));
  CHECK(stranger.status == 403);
  CHECK(stranger.body.find(id) != std::string::npos);
  CHECK(post("detach", R"({"fingerprint":"00000000"})").status == 400);
  CHECK(folder.projects().size() == 1);
  const std::string leave = fmt::format(R"({{"fingerprint":"{}"}})", id);
  {
    const FileLock agent = folder.lock();
    CHECK(post("detach", leave).status == 200);
    CHECK(folder.is_to_detach(test::sample_project()));
  }
  CHECK(post("detach", leave).status == 200);
  CHECK(folder.projects().empty());
}

TEST_CASE_FIXTURE(Fixture, "it knows when somebody looked") {
  clock.advance(Seconds(5));
  token = "x";
  get("status");
  CHECK(clock.now() - page.last_seen() == Seconds(5));
  token = page.token();
  get("status");
  CHECK(clock.now() == page.last_seen());
}

TEST_CASE_FIXTURE(Fixture, "hostile bodies are refused") {
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("7"),
        std::string("{}"), std::string("{\"seconds\":-1}"),
        std::string("{\"seconds\":1e99}"), std::string("{\"seconds\":\"1\"}"),
        std::string("{\"seconds\":2592001}"), std::string("{\"key\":7}"),
        std::string("{\"key\":\"cores\",\"value\":2}"),
        "{\"seconds\":" + std::string(5000, '1') + "}"}) {
    CAPTURE(body.substr(0, 40));
    CHECK(post("pause", body).status >= 400);
    CHECK(post("prefs", body).status >= 400);
    CHECK(post("attach", body).status >= 400);
    CHECK(post("detach", body).status >= 400);
  }
  CHECK_FALSE(is_paused());
}

}  // namespace
}  // namespace quorate::client
