#include "server/http/message.h"

#include <doctest/doctest.h>

#include "server/http/rate_guard.h"
#include "server/http/responder.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;

TEST_CASE("values of a request are found by name") {
  Request request;
  request.headers = {{"Content-Type", "a"}, {"content-type", "b"}};
  request.query = {{"n", "1"}};
  CHECK(request.header("CONTENT-TYPE") == "a");
  CHECK(request.header("Accept").empty());
  CHECK(request.query_value("n") == "1");
  CHECK(request.query_value("N").empty());
  CHECK(request.path_value("hash").empty());
}

TEST_CASE("errors are told in JSON") {
  Response response =
      error_response(ErrorKind::unavailable, "busy \"now\"", Seconds(1.2));
  CHECK(response.status == 503);
  CHECK(std::get<std::string>(response.body) ==
        R"({"kind":"unavailable","message":"busy \"now\"","retry_after":2})");
  CHECK(response.headers == std::vector<NameValue>{{"Retry-After", "2"}});

  response = error_response(404, ErrorKind::unsupported, "no");
  CHECK(response.status == 404);
  CHECK(std::get<std::string>(response.body) ==
        R"({"kind":"unsupported","message":"no","retry_after":null})");
  CHECK(response.headers.empty());
}

TEST_CASE("an error may quote any bytes") {
  const auto body = [](const char* message) {
    return std::get<std::string>(
        error_response(400, ErrorKind::corrupt, message).body);
  };
  CHECK(body("a\n\x01\\") ==
        R"({"kind":"corrupt","message":"a\n\u0001\\","retry_after":null})");
  // A lone lead, a lone continuation, an overlong slash, a surrogate, a code
  // point over 10ffff, an unfinished sequence.
  for (const char* bytes : {"\xc3z", "\x80", "\xc0\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xe2\x82"}) {
    CHECK(body(bytes).find("\xef\xbf\xbd") != std::string::npos);
  }
}

TEST_CASE("a file's response knows its length and tag") {
  test::TemporaryFolder folder;
  write_file_durably(folder / "a", as_bytes("hello"));
  Response response = file_response(folder / "a", "text/plain", "tag");
  CHECK(response.etag == "\"tag\"");
  CHECK(std::get<FileBody>(response.body).length == 5);
  CHECK_THROWS_AS(file_response(folder / "none", "", ""), Error);
  CHECK_THROWS_AS(file_response(folder.path(), "", ""), Error);
}

TEST_CASE("an event has a data line for every line") {
  CHECK(format_event("loss", "1\n2") == "event: loss\ndata: 1\ndata: 2\n\n");
}

TEST_CASE("a transfer is too slow when one window moves too little") {
  ManualClock clock;
  RateGuard guard(100, Seconds(10));
  guard.start(clock.now());

  // A fast beginning does not pay for a slow end.
  guard.add(1'000'000);
  clock.advance(Seconds(10));
  CHECK_FALSE(guard.is_too_slow(clock.now()));

  guard.add(999);
  clock.advance(Seconds(9));
  CHECK_FALSE(guard.is_too_slow(clock.now()));
  clock.advance(Seconds(1));
  CHECK(guard.is_too_slow(clock.now()));

  guard.add(1);
  CHECK_FALSE(guard.is_too_slow(clock.now()));
}
