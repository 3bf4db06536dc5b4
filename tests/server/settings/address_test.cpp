#include "server/settings/address.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {

TEST_CASE("an endpoint is an address and a port") {
  Endpoint v4 = parse_endpoint("0.0.0.0:8470");
  CHECK(v4.address == "0.0.0.0");
  CHECK(v4.port == 8470);
  CHECK(parse_endpoint("[::1]:1").address == "::1");
  CHECK(parse_endpoint("host:65535").port == 65535);
  for (const char* text : {"127.0.0.1:0", "[::]:8470", "host:1"}) {
    CHECK(text_of(parse_endpoint(text)) == text);
  }
  for (const char* bad : {"", "here", ":", "a:", "a:x", "a:65536", "a:-1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_endpoint(bad), Error);
  }
}

TEST_CASE("what volunteers could type is http or https to a machine") {
  for (const char* good :
       {"http://h", "https://example.org:8470", "https://example.org/",
        "https://h:1", "http://h:65535/quorate", "http://[2001:db8::1]:80",
        "http://[2001:db8::1]", "http://127.0.0.1:8470"}) {
    CAPTURE(good);
    CHECK(is_public_url(good));
  }
  for (const char* bad : {"",
                          "example.org",
                          "example.org:8470",
                          "ftp://h",
                          "https://",
                          "https://:8470",
                          "https://h:",
                          "https://h:0",
                          "https://h:65536",
                          "https://h:-1",
                          "https://h:80x",
                          "https://a b",
                          "https://h#f",
                          "https://u@h",
                          "https://h?q",
                          "https://[::1",
                          "https://[::1]x",
                          "http://0.0.0.0:8470",
                          "http://[::]:8470",
                          "https://h\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_public_url(bad));
  }
  CHECK_FALSE(is_public_url("https://" + std::string(600, 'h')));
}

TEST_CASE("loopback is an address, not a name that begins like one") {
  for (const char* own : {"127.0.0.1", "127.8.9.10", "::1", "localhost"}) {
    CAPTURE(own);
    CHECK(is_loopback(own));
  }
  for (const char* other : {"127.example.org", "127.", "128.0.0.1", "0.0.0.0",
                            "::", "localhost.example.org", ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_loopback(other));
  }
}

TEST_CASE("the host of a URL goes into the certificate") {
  CHECK(host_of("https://example.org:8470/x") == "example.org");
  CHECK(host_of("http://[2001:db8::1]:80") == "2001:db8::1");
}

TEST_CASE("volunteers get the setting, else an address that means a machine") {
  CHECK(volunteers_url("https://h:1/", {"0.0.0.0", 2}, false) == "https://h:1");
  CHECK(volunteers_url("", {"127.0.0.1", 2}, false) == "http://127.0.0.1:2");
  CHECK(volunteers_url("", {"::1", 2}, true) == "https://[::1]:2");
  CHECK_FALSE(volunteers_url("", {"0.0.0.0", 2}, true));
  CHECK_FALSE(volunteers_url("", {"::", 2}, true));
}

}  // namespace quorate
