#include "server/making/replica_snapshots.h"

#include <doctest/doctest.h>

#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;
using Busy = std::vector<bool>;
using Homes = std::vector<ReplicaHome>;

TEST_CASE("a host gets its own replica, else a new one") {
  const Busy none(4, false);
  CHECK(replica_for(7, none, Homes{{}, {5, 1}, {7, 1}, {}}, 0) == 2U);
  CHECK(replica_for(7, none, Homes{{5, 1}, {}, {5, 1}, {}}, 0) == 1U);
  CHECK(replica_for(7, none, Homes{{5, 1}, {}, {5, 1}, {}}, 2) == 3U);
  CHECK(replica_for(7, Busy{false, false, true, true},
                    Homes{{5, 1}, {6, 1}, {7, 1}, {}}, 0) == std::nullopt);
}

TEST_CASE("a host without one gets one of a host that has several") {
  const Homes homes{{5, 1}, {6, 1}, {6, 1}, {8, 1}};
  CHECK(replica_for(7, Busy(4, false), homes, 0) == 1U);
  CHECK(replica_for(7, Busy{false, true, false, false}, homes, 0) == 2U);
  // who has one waits for it
  CHECK(replica_for(8, Busy{false, false, false, true}, homes, 0) ==
        std::nullopt);
}

TEST_CASE("where hosts are more than replicas, each has its turn") {
  Homes homes{{5, 3}, {6, kFairUnits - 1}};
  const Busy none(2, false);
  CHECK(replica_for(7, none, homes, 0) == std::nullopt);
  homes[1].units = kFairUnits;
  CHECK(replica_for(7, none, homes, 0) == 1U);
  CHECK(replica_for(5, Busy{true, false}, homes, 0) == std::nullopt);
}

TEST_CASE("the way to a snapshot is the exchange that made it") {
  ReplicaSnapshots replicas(2);
  const Hash begin = filled<Hash>(1), other = filled<Hash>(2),
             next = filled<Hash>(3), update = filled<Hash>(9);
  replicas.handed_out(0, begin, 5);
  // where the other's snapshot is not known, there is none
  CHECK(!replicas.is_known(1));
  replicas.exchanged(0, begin, update, 1);
  CHECK(!replicas.is_known(0));
  replicas.handed_out(0, next, 5);
  CHECK(replicas.is_known(0));
  CHECK(!replicas.way_to(0, next));
  // given that one, too
  replicas.handed_out(1, other, 6);
  replicas.exchanged(0, next, update, 1);
  const Hash last = filled<Hash>(4);
  replicas.handed_out(0, last, 5);
  CHECK(replicas.way_to(0, last) == ReplicaExchange{next, update, other});
  CHECK(!replicas.way_to(0, next));
  CHECK(!replicas.way_to(1, other));
  // a unit that started elsewhere leads nowhere
  replicas.exchanged(0, begin, update, 1);
  replicas.handed_out(0, filled<Hash>(8), 5);
  CHECK(!replicas.way_to(0, filled<Hash>(8)));
}

TEST_CASE("a replica's home is who has its units, while it is there") {
  ReplicaSnapshots replicas(3);
  const Hash some = filled<Hash>(1);
  replicas.handed_out(0, some, 5);
  for (HostId host : {5, 6, 6}) replicas.handed_out(1, some, host);
  const Homes homes = replicas.homes([](HostId host) { return host == 6; });
  REQUIRE(homes.size() == 3);
  CHECK(homes[0].host == 0);
  CHECK(homes[1].host == 6);
  CHECK(homes[1].units == 2);
  CHECK(homes[2].host == 0);
}

}  // namespace
}  // namespace quorate
