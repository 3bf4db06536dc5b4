#include "base/error.h"

#include <cerrno>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("kinds have names") {
  CHECK(name_of(ErrorKind::unavailable) == "unavailable");
  CHECK(name_of(ErrorKind::corrupt) == "corrupt");
  CHECK(name_of(ErrorKind::denied) == "denied");
  CHECK(name_of(ErrorKind::unsupported) == "unsupported");
  CHECK(name_of(ErrorKind::usage) == "usage");
  CHECK(name_of(ErrorKind::io) == "io");
}

TEST_CASE("errno becomes an io error with its text") {
  errno = ENOENT;
  CHECK_THROWS_WITH_AS(throw_errno("open x"),
                       "open x: No such file or directory", Error);
}

TEST_CASE("a condition that holds passes") {
  check(true, "holds");
}

}  // namespace quorate
