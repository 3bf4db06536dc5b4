#include "validator/trust.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace quorate {

TEST_CASE("a device is proven after so many validated units") {
  TrustPolicy policy;
  policy.proven_after = 20;
  CHECK(standing_of(policy, HostMark::none, 0) == Standing::fresh);
  CHECK(standing_of(policy, HostMark::none, 19) == Standing::fresh);
  CHECK(standing_of(policy, HostMark::none, 20) == Standing::proven);
  CHECK(standing_of(policy, HostMark::trusted, 0) == Standing::proven);
  CHECK(standing_of(policy, HostMark::watched, 20) == Standing::watched);
  CHECK(standing_of(policy, HostMark::watched, 59) == Standing::watched);
  CHECK(standing_of(policy, HostMark::watched, 60) == Standing::proven);
  CHECK(standing_of(policy, HostMark::banned, 1000) == Standing::banned);
  policy.proven_after = 0;
  CHECK(standing_of(policy, HostMark::none, 1000) == Standing::fresh);
  CHECK(standing_of(policy, HostMark::trusted, 0) == Standing::proven);
}

TEST_CASE("false results are counted up to the ban") {
  TrustPolicy policy;
  policy.ban_after = 3;
  CHECK(mark_after_false(policy, 1) == HostMark::watched);
  CHECK(mark_after_false(policy, 2) == HostMark::watched);
  CHECK(mark_after_false(policy, 3) == HostMark::banned);
  CHECK(mark_after_false(policy, 9) == HostMark::banned);
}

TEST_CASE("a share of the words draws a check") {
  TrustPolicy policy;
  policy.spot_check = 0;
  CHECK_FALSE(draws_check(policy, 0));
  policy.spot_check = 1;
  CHECK(draws_check(policy, ~std::uint64_t{0}));
  policy.spot_check = 0.25;
  CHECK(draws_check(policy, 0));
  CHECK(draws_check(policy, (std::uint64_t{1} << 62) - 1));
  CHECK_FALSE(draws_check(policy, std::uint64_t{1} << 62));
}

}  // namespace quorate
