#include "server/making/replica_snapshots.h"

#include <algorithm>

namespace quorate {
namespace {

// May one that has none take this replica?
bool is_to_share(const ReplicaHome& home,
                 const std::vector<ReplicaHome>& homes) {
  const auto has = std::count_if(
      homes.begin(), homes.end(),
      [&](const ReplicaHome& other) { return other.host == home.host; });
  return has > 1 || home.units >= kFairUnits;
}

}  // namespace

std::optional<std::uint32_t> replica_for(HostId host,
                                         const std::vector<bool>& is_busy,
                                         const std::vector<ReplicaHome>& homes,
                                         std::uint64_t unit_index) {
  const auto free_one = [&](auto suits) -> std::optional<std::uint32_t> {
    for (std::size_t i = 0; i < is_busy.size(); ++i) {
      const std::size_t r = (unit_index + i) % is_busy.size();
      if (!is_busy[r] && suits(homes[r])) return static_cast<std::uint32_t>(r);
    }
    return std::nullopt;
  };
  const auto is_own = [&](const ReplicaHome& home) {
    return home.host == host;
  };
  const auto is_nobodys = [](const ReplicaHome& home) {
    return home.host == 0;
  };
  if (const auto own = free_one(is_own)) return own;
  if (const auto new_one = free_one(is_nobodys)) return new_one;
  if (std::any_of(homes.begin(), homes.end(), is_own)) return std::nullopt;
  return free_one(
      [&](const ReplicaHome& home) { return is_to_share(home, homes); });
}

void ReplicaSnapshots::handed_out(std::uint32_t replica, const Hash& snapshot,
                                  HostId host) {
  Replica& known = replicas_.at(replica);
  known.snapshot = snapshot;
  known.handed = snapshot;
  if (known.home.host != host) known.home = {host, 0};
  ++known.home.units;
}

bool ReplicaSnapshots::is_known(std::uint32_t replica) const {
  return !replicas_.at(replica).snapshot.is_zero();
}

void ReplicaSnapshots::note(std::uint32_t replica, const Hash& snapshot) {
  replicas_.at(replica).snapshot = snapshot;
}

void ReplicaSnapshots::exchanged(std::uint32_t replica, const Hash& from,
                                 const Hash& update, std::uint32_t met) {
  Replica& known = replicas_.at(replica);
  const Hash& other = replicas_.at(met).snapshot;
  const bool is_known = known.handed == from && !other.is_zero();
  known.way.reset();
  if (is_known) known.way = ReplicaExchange{from, update, other};
  known.snapshot = Hash{};
}

std::optional<ReplicaExchange> ReplicaSnapshots::way_to(
    std::uint32_t replica, const Hash& snapshot) const {
  const Replica& known = replicas_.at(replica);
  return known.handed == snapshot ? known.way : std::nullopt;
}

std::vector<ReplicaHome> ReplicaSnapshots::homes(
    const std::function<bool(HostId)>& is_there) const {
  std::vector<ReplicaHome> homes;
  homes.reserve(replicas_.size());
  for (const Replica& known : replicas_) {
    const bool has_home = known.home.host != 0 && is_there(known.home.host);
    homes.push_back(has_home ? known.home : ReplicaHome{});
  }
  return homes;
}

}  // namespace quorate
