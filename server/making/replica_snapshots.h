// Where the replicas of a run lie: the snapshot of each, how it came about, and
// which host trained it last. With that, hosts of one site make the next
// snapshot themselves (ReplicaExchange) instead of fetching it.
//
// In memory only: after a restart hosts fetch each replica once. What it says
// may be out of date, as after a revocation: a snapshot that was made otherwise
// has another hash, and the host fetches it then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workunits/assignment.h"
#include "workunits/host.h"

namespace quorate {

// Who trains a replica.
struct ReplicaHome {
  HostId host = 0;          // 0: nobody, or a host that is gone
  std::uint32_t units = 0;  // that it had of the replica so far
};
// Units after which a host's only replica may go to one that has none: where
// hosts are more than replicas, each has its turn, and a replica is fetched
// anew only so often.
inline constexpr std::uint32_t kFairUnits = 16;

// Which free replica a host gets, pure: one of its own; else one that is
// nobody's; a host that has none also gets one of a host that has several, or
// has had it for kFairUnits. nullopt: it waits. From unit_index modulo their
// number on, so that all have their turn.
std::optional<std::uint32_t> replica_for(HostId host,
                                         const std::vector<bool>& is_busy,
                                         const std::vector<ReplicaHome>& homes,
                                         std::uint64_t unit_index);

class ReplicaSnapshots {
 public:
  explicit ReplicaSnapshots(std::size_t replicas) : replicas_(replicas) {}

  // A unit starts from this snapshot of the replica, for this host.
  void handed_out(std::uint32_t replica, const Hash& snapshot, HostId host);
  // What the replica is now, if it is not known: since its last unit.
  bool is_known(std::uint32_t replica) const;
  void note(std::uint32_t replica, const Hash& snapshot);
  // That unit's update is in, and the replica has met the other one, which did
  // not change by that.
  void exchanged(std::uint32_t replica, const Hash& from, const Hash& update,
                 std::uint32_t met);

  // What led to this snapshot of the replica, if that is known.
  std::optional<ReplicaExchange> way_to(std::uint32_t replica,
                                        const Hash& snapshot) const;
  // is_there: whether a host is still there.
  std::vector<ReplicaHome> homes(
      const std::function<bool(HostId)>& is_there) const;

 private:
  struct Replica {
    Hash snapshot;                       // as it is now; zero: unknown
    Hash handed;                         // that its last unit started from
    std::optional<ReplicaExchange> way;  // to what it is since its last unit
    ReplicaHome home;
  };
  std::vector<Replica> replicas_;
};

}  // namespace quorate
