#include "server/making/locality.h"

#include <algorithm>
#include <cstring>

namespace quorate {
namespace {

// Of shards in progress, for a host that holds none: with thousands of hosts
// the best of so many is good enough, and found in less than a millisecond.
constexpr std::size_t kMostConsidered = 4096;

// The best of some shards under the three rules. New ones come by themselves,
// for of all shards only the first new one is looked at.
class Choice {
 public:
  Choice(const EpochProgress& epoch, const ShardHosts& others)
      : epoch_(epoch), others_(others) {}

  void consider(std::uint32_t shard) {
    if (epoch_.left(shard) == 0) return;
    if (!best_ || is_better(shard, *best_)) best_ = shard;
  }
  std::optional<std::uint32_t> best() const { return best_; }

 private:
  int rank(std::uint32_t shard) const {
    if (epoch_.first_step(shard) == 0) return 2;
    return others_.count(shard) == 0 ? 1 : 3;
  }

  bool is_better(std::uint32_t one, std::uint32_t two) const {
    if (rank(one) != rank(two)) return rank(one) < rank(two);
    // Of new ones all may be left; the order decides.
    if (rank(one) != 2) {
      const std::uint64_t left_by_one = share(one, two);
      const std::uint64_t left_by_two = share(two, one);
      if (left_by_one != left_by_two) return left_by_one > left_by_two;
    }
    return epoch_.place(one) < epoch_.place(two);
  }

  // left(shard) / hosts(shard), times hosts of both: comparable integers.
  std::uint64_t share(std::uint32_t shard, std::uint32_t than) const {
    return std::uint64_t{epoch_.left(shard)} * (others_.count(than) + 1);
  }

  const EpochProgress& epoch_;
  const ShardHosts& others_;
  std::optional<std::uint32_t> best_;
};

}  // namespace

ShardIndex::ShardIndex(std::span<const ShardEntry> shards) {
  by_hash_.reserve(shards.size());
  std::uint32_t index = 0;
  for (const ShardEntry& shard : shards) by_hash_.emplace(shard.hash, index++);
}

std::vector<std::uint32_t> ShardIndex::find(
    std::span<const Hash> hashes) const {
  std::vector<std::uint32_t> found;
  for (const Hash& hash : hashes) {
    auto [at, end] = by_hash_.equal_range(hash);
    for (; at != end; ++at) found.push_back(at->second);
  }
  return found;
}

std::size_t ShardIndex::HashOfHash::operator()(const Hash& hash) const {
  std::size_t head = 0;
  std::memcpy(&head, hash.bytes.data(), sizeof head);
  return head;
}

void ShardHosts::move(HostId host, std::uint32_t shard) {
  leave(host);
  at_[host] = shard;
  ++count_[shard];
}

std::optional<std::uint32_t> ShardHosts::leave(HostId host) {
  auto found = at_.find(host);
  if (found == at_.end()) return std::nullopt;
  const std::uint32_t shard = found->second;
  auto count = count_.find(shard);
  if (--count->second == 0) count_.erase(count);
  at_.erase(found);
  return shard;
}

std::uint32_t ShardHosts::count(std::uint32_t shard) const {
  auto found = count_.find(shard);
  return found == count_.end() ? 0 : found->second;
}

std::optional<std::uint32_t> choose_shard(const EpochProgress& epoch,
                                          std::span<const std::uint32_t> held,
                                          const ShardHosts& others) {
  Choice of_held(epoch, others);
  for (std::uint32_t shard : held) of_held.consider(shard);
  if (of_held.best()) return of_held.best();
  Choice of_all(epoch, others);
  if (std::optional<std::uint32_t> fresh = epoch.next_new()) {
    of_all.consider(*fresh);
  }
  std::size_t looked_at = 0;
  for (std::uint32_t shard : epoch.begun()) {
    if (++looked_at > kMostConsidered) break;
    of_all.consider(shard);
  }
  return of_all.best();
}

}  // namespace quorate
