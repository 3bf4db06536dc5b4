#include "protocol/transfer/project_address.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate::client {
namespace {

TEST_CASE("a project address has a URL and perhaps a fingerprint") {
  ProjectAddress plain = parse_project_address("http://127.0.0.1:8470/");
  CHECK(plain.url == "http://127.0.0.1:8470");
  CHECK(plain.fingerprint.empty());
  CHECK_FALSE(plain.is_encrypted());

  ProjectAddress full = parse_project_address(
      "example.org:8470#AB12-cd34 567800000000000000000000");
  CHECK(full.url == "https://example.org:8470");
  CHECK(full.fingerprint == "ab12cd34567800000000000000000000");
  CHECK(full.is_encrypted());

  // As browsers pass on a link: some add a slash.
  ProjectAddress link = parse_project_address(
      "quorate://example.org:8470/#ab12cd34567800000000000000000000");
  CHECK(link.url == full.url);
  CHECK(link.fingerprint == full.fingerprint);
}

TEST_CASE("what is no project address is refused") {
  for (const char* text :
       {"", "https://", "ftp://example.org", "https:///path", "https://a b",
        "https://a#1234567890123456789012345678901", "https://a#",
        "https://a#1234567890123456789012345678901x",
        "https://a#"
        "00000000000000000000000000000000000000000000000000000000000000000"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_project_address(text), Error);
  }
}

TEST_CASE("a refusal says what is wrong, or what may be meant") {
  struct Row {
    const char* text;
    const char* expected;
  };
  const Row table[] = {
      {"", "no host"},
      {"http://", "no host"},
      {"quorate://", "no host"},
      {"quorate://ftp://example.org", "the scheme is neither http nor https"},
      {"http:///", "no host"},
      {"https://:8470", "no host"},
      {"http//127.0.0.1:8501", "did you mean http://?"},
      {"https:/example.org", "did you mean https://?"},
      {"http://127.0.0.1:99999", "port 99999: expected 1 to 65535"},
      {"127.0.0.1:0", "port 0: expected 1 to 65535"},
      {"http://[::1]:x/", "port x: expected 1 to 65535"},
      {"https://a b", "it has characters that a URL cannot have"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text);
    CHECK_THROWS_WITH_AS(parse_project_address(row.text),
                         doctest::Contains(row.expected), Error);
  }
  CHECK(parse_project_address("http:8470").url == "https://http:8470");
  CHECK(parse_project_address("http://[::1]:8470/").url == "http://[::1]:8470");
  CHECK(parse_project_address("https://[::1]").url == "https://[::1]");
}

TEST_CASE("a fingerprint matches the beginning of the project's id") {
  ProjectId id = test::sample_project();
  CHECK(matches("", id));
  CHECK(matches(id.hex().substr(0, 8), id));
  CHECK(matches(fingerprint(id), id));
  CHECK(matches(id.hex(), id));
  CHECK_FALSE(matches(id.hex().substr(1, 8), id));
}

}  // namespace
}  // namespace quorate::client
