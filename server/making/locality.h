// Which shard a host's next unit is taken from: one that it holds, if possible.
// Nothing else depends on what a host says that it holds; see
// docs/validation.md, "What a host says of its shards".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/crypto.h"
#include "server/datasets/manifest.h"
#include "server/making/epoch_progress.h"
#include "workunits/workunit.h"

namespace quorate {

// The shards of a run by their hash.
class ShardIndex {
 public:
  ShardIndex() = default;
  explicit ShardIndex(std::span<const ShardEntry> shards);

  bool contains(const Hash& hash) const { return by_hash_.contains(hash); }
  // Those of them that have one of the hashes; others are passed over.
  std::vector<std::uint32_t> find(std::span<const Hash> hashes) const;

 private:
  struct HashOfHash {  // is one already
    std::size_t operator()(const Hash& hash) const;
  };
  // Two shards may have the same bytes.
  std::unordered_multimap<Hash, std::uint32_t, HashOfHash> by_hash_;
};

// Which host is at which shard: that of the last unit that was made for it.
class ShardHosts {
 public:
  void move(HostId host, std::uint32_t shard);
  // Returns where it was.
  std::optional<std::uint32_t> leave(HostId host);
  // Hosts at a shard.
  std::uint32_t count(std::uint32_t shard) const;

 private:
  std::unordered_map<HostId, std::uint32_t> at_;
  std::unordered_map<std::uint32_t, std::uint32_t> count_;
};

// The shard of a host's next unit; nullopt: everything is handed
// out. held: shards that it has, or will have with its results in progress.
// others: where the other active hosts are.
//
// Of those with samples left that it holds, else of all,
//   1. one that was begun and that nobody is at,
//   2. else a new one, the first in the epoch's order,
//   3. else one that others are at, with the most steps left for each of them.
//
// So one host is enough for a shard: each other one at it is one more download
// of the shard for the same samples, while a new shard is one that somebody has
// to download anyway. Only when there is no new one do hosts share, which they
// do at the end of an epoch and in data sets of few shards. At most one shard
// for each active host is in progress, then, but for those of hosts that left,
// which (1) brings to an end first.
std::optional<std::uint32_t> choose_shard(const EpochProgress& epoch,
                                          std::span<const std::uint32_t> held,
                                          const ShardHosts& others);

}  // namespace quorate
