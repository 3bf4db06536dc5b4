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

}  // namespace
}  // namespace quorate
