#include "server/doors/boinc/scheduling/host_match.h"

#include <array>

#include <doctest/doctest.h>

namespace quorate::boinc {
namespace {

const std::array kKnown = {BoincHost{4, "aaa", 10}, BoincHost{7, "bbb", 20},
                           BoincHost{9, "bbb", 3}};

}  // namespace

TEST_CASE("a client that counts on is the host that it says") {
  CHECK(match_host({4, "aaa", 10, false}, kKnown) == 4);  // a lost reply
  CHECK(match_host({4, "aaa", 11, false}, kKnown) == 4);
  CHECK(match_host({4, "another machine", 11, false}, kKnown) == 4);
  CHECK(match_host({4, "aaa", 11, true}, kKnown) == 4);
}

TEST_CASE("one that counts back is a copy of its folder: a new host") {
  CHECK(match_host({4, "aaa", 9, false}, kKnown) == 0);
  CHECK(match_host({7, "bbb", 19, false}, kKnown) == 0);
}

TEST_CASE("without an id, or with an unknown one, it is the machine's last") {
  CHECK(match_host({0, "bbb", 0, false}, kKnown) == 9);
  CHECK(match_host({5, "aaa", 99, false}, kKnown) == 4);
  CHECK(match_host({0, "ccc", 0, false}, kKnown) == 0);
  CHECK(match_host({0, "", 0, false}, kKnown) == 0);
  CHECK(match_host({0, "aaa", 0, false}, {}) == 0);
}

TEST_CASE("clients that share a machine are never taken for each other") {
  CHECK(match_host({0, "bbb", 0, true}, kKnown) == 0);
}

TEST_CASE("a machine that is not known by any cpid matches none") {
  const std::array nameless = {BoincHost{2, "", 1}};
  CHECK(match_host({0, "", 0, false}, nameless) == 0);
}

}  // namespace quorate::boinc
