#include "server/http/text.h"

#include <doctest/doctest.h>

using namespace quorate;

TEST_CASE("a target is split and decoded") {
  auto target = parse_target("/v1/obj%65cts/a%20b?x=1&y=a+b%26c&flag");
  REQUIRE(target);
  CHECK(target->path == "/v1/objects/a b");
  CHECK(target->segments == std::vector<std::string>{"v1", "objects", "a b"});
  CHECK(target->query ==
        std::vector<NameValue>{{"x", "1"}, {"y", "a b&c"}, {"flag", ""}});
}

TEST_CASE("targets at the edges") {
  CHECK(parse_target("/")->segments.empty());
  CHECK(parse_target("/a/")->segments == std::vector<std::string>{"a", ""});
  CHECK(parse_target("http://host:80/a?b=c")->path == "/a");
  CHECK(parse_target("/a?")->query.empty());
}

TEST_CASE("broken and dangerous targets are refused") {
  for (std::string bad :
       {"", "*", "a", "/%", "/%4", "/%zz", "/%00", "/a%2fb", "/../etc",
        "/a/%2e%2e/b", "/./a", "/a?x=%", "/%0d%0aX", "http://host", "/a\x01"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_target(bad));
  }
  std::string many = "/?";
  for (int i = 0; i < 65; ++i) many += "a=b&";
  CHECK_FALSE(parse_target(many));
}

TEST_CASE("ranges of content") {
  struct Case {
    const char* range;
    int status;
    std::uint64_t first, length;
  };
  const Case cases[] = {
      {"", 200, 0, 100},
      {"bytes=0-9", 206, 0, 10},
      {"bytes=90-", 206, 90, 10},
      {"bytes=-10", 206, 90, 10},
      {"bytes=-500", 206, 0, 100},
      {"bytes=95-1000", 206, 95, 5},
      {"bytes=100-", 416, 0, 0},
      {"bytes=-0", 416, 0, 0},
      {"bytes=5-4", 200, 0, 100},
      {"bytes=0-1,3-4", 200, 0, 100},
      {"lines=0-1", 200, 0, 100},
      {"bytes=x-", 200, 0, 100},
      {"bytes=-", 200, 0, 100},
      {"bytes=5", 200, 0, 100},
      {"bytes=99999999999999999999-", 200, 0, 100},
  };
  for (const Case& c : cases) {
    CAPTURE(c.range);
    Conditions conditions{Method::get, c.range, "", ""};
    ContentRange range = content_range(conditions, "\"e\"", 100);
    CHECK(range.status == c.status);
    CHECK(range.first == c.first);
    CHECK(range.length == c.length);
  }
  SUBCASE("nothing can be taken from nothing") {
    CHECK(content_range({Method::get, "bytes=0-", "", ""}, "", 0).status ==
          416);
  }
  SUBCASE("a range of other content is the whole") {
    Conditions conditions{Method::get, "bytes=1-2", "\"old\"", ""};
    CHECK(content_range(conditions, "\"new\"", 9).status == 200);
    CHECK(content_range(conditions, "\"old\"", 9).status == 206);
  }
}

TEST_CASE("what the client knows is recognised by its tag") {
  auto known = [](const char* list, const char* etag) {
    return is_known({Method::get, "", "", list}, etag);
  };
  CHECK(known("\"a\"", "\"a\""));
  CHECK(known("\"b\", W/\"a\"", "\"a\""));
  CHECK(known("*", "\"a\""));
  CHECK_FALSE(known("\"b\"", "\"a\""));
  CHECK_FALSE(known("", "\"a\""));
  CHECK_FALSE(known("*", ""));
  CHECK_FALSE(is_known({Method::post, "", "", "*"}, "\"a\""));
}

TEST_CASE("dates as HTTP writes them") {
  CHECK(http_date(784111777000) == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("all values of a header are one list") {
  Request request;
  CHECK(joined_values(request, "x-forwarded-for").empty());
  request.headers = {
      {"X-Forwarded-For", "a, b"}, {"Host", "h"}, {"x-forwarded-FOR", "c"}};
  CHECK(joined_values(request, "X-Forwarded-For") == "a, b,c");
}

TEST_CASE("a Host header is a machine, perhaps with a port") {
  for (const char* good :
       {"localhost", "train.example.org", "train.example.org:8470",
        "127.0.0.1:1", "[::1]", "[2001:db8::1]:65535", "my_machine"}) {
    CAPTURE(good);
    CHECK(is_host(good));
  }
  const std::string long_name(254, 'a');
  for (const char* bad : {"",
                          ":80",
                          "a:",
                          "a:0",
                          "a:65536",
                          "a:80x",
                          "a:80:80",
                          "a/b",
                          "a.example/path",
                          "a@b",
                          "a b",
                          "a,b",
                          "a%41",
                          "a\"b",
                          "<b>",
                          "::1",
                          "[::1",
                          "[]",
                          "[a]",
                          "[127.0.0.1]",
                          "[::1]x",
                          "[::1]:",
                          ".a",
                          "-a",
                          long_name.c_str()}) {
    CAPTURE(bad);
    CHECK_FALSE(is_host(bad));
  }
}
