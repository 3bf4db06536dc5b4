// One result sent to one host: what either door hands out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/result_header.h"
#include "workunits/workunit.h"

namespace quorate {

enum class ObjectKind { workunit, snapshot, shard, update, program, delta };
std::string_view name_of(ObjectKind kind);

// An object that a host needs, by content.
struct ObjectRef {
  ObjectKind kind = ObjectKind::workunit;
  Hash hash;
  std::uint64_t size = 0;

  bool operator==(const ObjectRef&) const = default;
};

// What leads from one snapshot of a run to the next
// (workunits/objects/snapshot_delta).
struct SnapshotStep {
  Hash from;  // the snapshot before
  ObjectRef delta;

  bool operator==(const SnapshotStep&) const = default;
};

// How the snapshot of a replica came about, for the host that trained it: with
// the update of its last unit it went half of the way to another replica
// (workunits/objects/replica_exchange). Mates of a site have that one.
struct ReplicaExchange {
  Hash from;    // snapshot that its last unit started from
  Hash update;  // of that unit
  Hash met;     // snapshot of the other replica

  bool operator==(const ReplicaExchange&) const = default;
};

struct Assignment {
  ResultId result = 0;
  Nonce nonce;
  // The sealed workunit first, then snapshot and shard.
  std::vector<ObjectRef> objects;
  // A shorter way to the snapshot, for hosts that have an earlier one: each
  // leads to what the next is from, the last to the snapshot.
  std::vector<SnapshotStep> deltas = {};
  // Another one: of runs whose replicas are exchanged among hosts.
  std::optional<ReplicaExchange> exchange = {};
  // How long the host may be silent before the result goes to another.
  Seconds lease{0};
  // When it does in any case. Told to those who cannot be told later that they
  // are too slow.
  Seconds deadline{0};
  // False: a witness, who reports without sending its update.
  bool upload = true;
};

// What is left of that way for a host that has some snapshots; empty: it has
// none that the way leads past.
std::span<const SnapshotStep> shortest_way(
    const Assignment& assignment,
    const std::function<bool(const Hash& snapshot)>& has);

}  // namespace quorate
