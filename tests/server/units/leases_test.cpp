#include "server/units/leases.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

Instant at(double seconds) {
  return Instant{Seconds(seconds)};
}

using Ids = std::vector<ResultId>;

}  // namespace

TEST_CASE("a result becomes slow once, and stays so while its lease lasts") {
  Leases leases;

  CHECK_FALSE(leases.becomes_slow(1, at(0), Seconds(0)));
  leases.grant(1, at(0), Seconds(100));
  CHECK_FALSE(leases.becomes_slow(1, at(9), Seconds(9)));
  CHECK_FALSE(leases.is_slow(1));
  CHECK(leases.becomes_slow(1, at(10), Seconds(9)));
  CHECK_FALSE(leases.becomes_slow(1, at(11), Seconds(9)));
  leases.renew(1, at(12), Seconds(100), Seconds(1000));
  CHECK(leases.is_slow(1));
  leases.end(1);
  CHECK_FALSE(leases.is_slow(1));
  leases.grant(1, at(20), Seconds(100));
  CHECK_FALSE(leases.is_slow(1));
}

TEST_CASE("a lease that is not renewed expires once") {
  Leases leases;
  leases.grant(1, at(0), Seconds(10));
  leases.grant(2, at(0), Seconds(20));
  CHECK(leases.take_expired(at(9)).empty());
  CHECK(leases.take_expired(at(10)) == Ids{1});
  CHECK(leases.take_expired(at(10)).empty());
  leases.renew(2, at(10), Seconds(20), Seconds(100));
  CHECK(leases.take_expired(at(29)).empty());
  CHECK(leases.take_expired(at(30)) == Ids{2});
}

TEST_CASE("leases expire in any order") {
  Leases leases;
  leases.grant(1, at(0), Seconds(100));
  leases.grant(2, at(0), Seconds(5));
  leases.grant(3, at(0), Seconds(50));
  leases.renew(2, at(4), Seconds(30), Seconds(100));
  leases.renew(3, at(4), Seconds(2), Seconds(100));  // its host is slower now
  CHECK(leases.take_expired(at(5)).empty());
  CHECK(leases.take_expired(at(6)) == Ids{3});
  leases.grant(4, at(6), Seconds(1));
  CHECK(leases.take_expired(at(40)) == Ids{2, 4});
  CHECK(leases.take_expired(at(99)).empty());
  CHECK(leases.take_expired(at(100)) == Ids{1});
}

TEST_CASE("a lease that is over cannot be renewed") {
  Leases leases;
  leases.grant(1, at(0), Seconds(10));
  leases.end(1);
  leases.renew(1, at(5), Seconds(10), Seconds(100));
  CHECK(leases.take_expired(at(100)).empty());
}

TEST_CASE("a lease cannot be renewed for ever") {
  Leases leases;
  leases.grant(1, at(0), Seconds(10));
  for (double now = 1; now < 50; ++now) {
    leases.renew(1, at(now), Seconds(10), Seconds(50));
    CHECK(leases.take_expired(at(now)).empty());
  }
  CHECK(leases.take_expired(at(50)) == Ids{1});
}

TEST_CASE("a reservation keeps a result for one host until it expires") {
  Reservations reservations;
  CHECK_FALSE(reservations.host(1).has_value());
  reservations.keep(1, 7, at(10));
  CHECK(reservations.host(1) == 7);
  reservations.keep(1, 8, at(20));  // drawn again
  CHECK(reservations.take_expired(at(10)).empty());
  CHECK(reservations.host(1) == 8);
  auto expired = reservations.take_expired(at(20));
  REQUIRE(expired.size() == 1);
  CHECK(expired[0].result == 1);
  CHECK(expired[0].was_drawn);
  CHECK_FALSE(reservations.host(1).has_value());
  reservations.hold(1, at(30));
  CHECK_FALSE(reservations.host(1).has_value());
  CHECK(reservations.anybodys().empty());
  expired = reservations.take_expired(at(30));
  REQUIRE(expired.size() == 1);
  CHECK_FALSE(expired[0].was_drawn);
  reservations.keep(2, 7, at(30));
  reservations.end(2);
  CHECK_FALSE(reservations.host(2).has_value());
  CHECK(reservations.kept_for(7).empty());

  reservations.keep(3, 7, at(30));
  reservations.keep(4, 7, at(30));
  reservations.release(5);
  CHECK(reservations.kept_for(7) == std::set<ResultId>{3, 4});
  CHECK(reservations.anybodys() == std::set<ResultId>{5});
  CHECK_FALSE(reservations.host(5).has_value());
  reservations.release(3);
  CHECK(reservations.kept_for(7) == std::set<ResultId>{4});
  CHECK(reservations.anybodys() == std::set<ResultId>{3, 5});
  REQUIRE(reservations.take_expired(at(1000)).size() == 1);
  CHECK(reservations.kept_for(7).empty());
  reservations.end(5);
  CHECK(reservations.anybodys() == std::set<ResultId>{3});
}

}  // namespace quorate
