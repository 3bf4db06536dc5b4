// Sessions on a virtual clock, and what a request says of itself.
#include "server/web/web_sessions.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "server/web/web_request.h"

namespace quorate {
namespace {

Request request_saying(std::vector<NameValue> headers) {
  Request request;
  request.headers = std::move(headers);
  return request;
}

bool is_from_own_page(std::vector<NameValue> headers) {
  headers.emplace_back("Host", "train.example.org:8470");
  headers.emplace_back("Content-Type", "application/json");
  try {
    expect_own_page(request_saying(std::move(headers)));
    return true;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::denied);
    return false;
  }
}

}  // namespace

TEST_CASE("a session ends when it is silent, and after its life") {
  ManualClock clock;
  WebSessions sessions(clock);
  const std::string token = sessions.open("anna", 17);
  REQUIRE(sessions.find(token));
  CHECK(sessions.find(token)->name == "anna");
  CHECK(sessions.find(token)->made == 17);
  CHECK(!sessions.find(token)->csrf.is_zero());
  CHECK(!sessions.find("not" + token));
  clock.advance(WebSessions::kIdle - Seconds(1));
  CHECK(sessions.find(token));  // a sign of life
  clock.advance(WebSessions::kIdle - Seconds(1));
  CHECK(sessions.find(token));
  clock.advance(WebSessions::kIdle);
  CHECK(!sessions.find(token));

  const std::string busy = sessions.open("anna", 17);
  Seconds lived{0};
  while (lived < 2 * WebSessions::kLife && sessions.find(busy)) {
    clock.advance(Seconds(600));
    lived += Seconds(600);
  }
  CHECK(lived == WebSessions::kLife);
}

TEST_CASE("a session is closed, and too many end the quietest") {
  ManualClock clock;
  WebSessions sessions(clock);
  const std::string first = sessions.open("a", 1);
  sessions.close(first);
  CHECK(!sessions.find(first));
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < WebSessions::kMost; ++i) {
    tokens.push_back(sessions.open("a", 1));
    clock.advance(Seconds(1));
  }
  CHECK(sessions.find(tokens[0]));
  CHECK(sessions.find(sessions.open("a", 1)));
  CHECK(sessions.find(tokens[0]));
  CHECK(!sessions.find(tokens[1]));
}

TEST_CASE("in clear it is for this machine, over a proxy for its TLS") {
  std::string from = "127.0.0.1";
  const auto way = [&](bool is_tls, bool is_loopback,
                       std::vector<NameValue> headers = {}) {
    Request request = request_saying(std::move(headers));
    request.remote_address = from;
    return way_of(request, is_tls, is_loopback);
  };
  CHECK(way(true, false) == WebWay::encrypted);
  CHECK(way(false, false) == WebWay::open);
  CHECK(way(false, false, {{"X-Forwarded-Proto", "https"}}) == WebWay::open);
  CHECK(way(false, true) == WebWay::local);
  CHECK(way(false, true, {{"X-Forwarded-Proto", "https"}}) ==
        WebWay::encrypted);
  CHECK(way(false, true, {{"X-Forwarded-Proto", "http"}}) == WebWay::open);
  CHECK(way(false, true, {{"X-Forwarded-For", "192.0.2.1"}}) == WebWay::open);
  CHECK(way(false, true, {{"Forwarded", "for=192.0.2.1"}}) == WebWay::open);
  // A proxy on this machine that adds no header, but names its client.
  from = "192.0.2.1";
  CHECK(way(false, true) == WebWay::open);
  CHECK(way(true, true) == WebWay::encrypted);
}

TEST_CASE("the cookie is this server's, and no script's") {
  const std::string token(64, 'a');
  const std::string secure = session_cookie(WebWay::encrypted, token, 60);
  CHECK(secure == "__Host-quorate-admin=" + token +
                      "; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; "
                      "Secure");
  const auto name = cookie_name(WebWay::encrypted);
  CHECK(session_token("a=b; " + secure, name) == token);
  CHECK(session_token("quorate-admin=" + token, "quorate-admin") == token);
  CHECK(!session_token("quorate-admin=" + token, name));
  CHECK(!session_token("", name));
  CHECK(!session_token("; ;=;", name));
  for (const char* wrong : {"", "abc", "../../etc"}) {
    CHECK(!session_token(std::string(name) + "=" + wrong, name));
  }
  CHECK(!session_token(std::string(name) + "=" + std::string(64, 'G'), name));
}

TEST_CASE("orders come from our own page alone") {
  CHECK(is_from_own_page({}));
  CHECK(is_from_own_page({{"Sec-Fetch-Site", "same-origin"},
                          {"Origin", "https://train.example.org:8470"}}));
  CHECK(!is_from_own_page({{"Sec-Fetch-Site", "cross-site"}}));
  CHECK(!is_from_own_page({{"Sec-Fetch-Site", "same-site"}}));
  CHECK(!is_from_own_page({{"Origin", "https://evil.example"}}));
  CHECK(!is_from_own_page({{"Origin", "null"}}));
  CHECK_THROWS_AS(expect_own_page(request_saying(
                      {{"Content-Type", "application/x-www-form-urlencoded"}})),
                  Error);
}

TEST_CASE("an order has arguments, and may be confirmed") {
  CHECK(!parse_web_order(R"({"arguments":{"a":1}})").is_confirmed);
  CHECK(parse_web_order(R"({"arguments":{},"confirmed":true})").is_confirmed);
  for (const char* wrong : {"", "{}", "[]", R"({"arguments":[]})",
                            R"({"arguments":{},"confirmed":1})",
                            R"({"arguments":{},"arguments":{}})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_web_order(wrong), Error);
  }
}

}  // namespace quorate
