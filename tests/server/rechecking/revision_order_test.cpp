#include "server/rechecking/revision_order.h"

#include <vector>

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr RevisionStep kCheckFirst{1, RevisionKind::recheck};
constexpr RevisionStep kRevokeFirst{1, RevisionKind::revoke};
constexpr RevisionStep kCheckSecond{2, RevisionKind::recheck};

TEST_CASE("everything that waits has its turn, whatever comes meanwhile") {
  const std::vector<RevisionStep> all = {kCheckSecond, kRevokeFirst,
                                         kCheckFirst};
  CHECK(next_step(all, std::nullopt) == kCheckFirst);
  CHECK(next_step(all, kCheckFirst) == kRevokeFirst);
  CHECK(next_step(all, kRevokeFirst) == kCheckSecond);
  CHECK(next_step(all, kCheckSecond) == kCheckFirst);
}

TEST_CASE("what is the only one is done again") {
  CHECK(next_step(std::vector{kCheckSecond}, kCheckSecond) == kCheckSecond);
  CHECK_FALSE(next_step({}, kCheckFirst).has_value());
}

TEST_CASE("an entry revokes results of all hosts for one reason") {
  const std::vector<Doomed> waiting = {{1, 11, 5, {}, "false"},
                                       {2, 12, 6, {}, "false"},
                                       {3, 13, 5, {}, "spoilt"},
                                       {4, 14, 5, {}, "false"}};
  const auto results = [&](std::size_t most) {
    std::vector<ResultId> found;
    for (const Doomed& one : revoked_together(waiting, most)) {
      found.push_back(one.result);
    }
    return found;
  };
  CHECK(results(100) == std::vector<ResultId>{11, 12, 14});
  CHECK(results(2) == std::vector<ResultId>{11, 12});
  CHECK(revoked_together({}, 100).empty());
}

TEST_CASE("a run waits only for the last stretch of its rebuilding") {
  CHECK(is_last_stretch({}, 100));
  CHECK_FALSE(is_last_stretch({}, 101));
  CHECK_FALSE(is_last_stretch({.done = 1000, .made = 1}, 1101));
  CHECK(is_last_stretch({.done = 1000, .made = 1}, 1100));
}

TEST_CASE("a run that is as fast as its rebuilding waits in the end") {
  Stretches stretches;
  while (!is_last_stretch(stretches, stretches.done + 1000)) {
    stretches.done += 1000;
    ++stretches.made;
    REQUIRE(stretches.made < 100);
  }
  CHECK(stretches.made == 9);
}

}  // namespace
}  // namespace quorate
