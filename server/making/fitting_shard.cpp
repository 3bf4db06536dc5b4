#include "server/making/fitting_shard.h"

namespace quorate {

std::optional<std::uint32_t> fitting_shard(const EpochProgress& epoch,
                                           std::span<const std::uint32_t> held,
                                           std::uint32_t steps) {
  std::optional<std::uint32_t> best;
  bool has_tail = false;
  for (const std::uint32_t shard : held) {
    has_tail |= epoch.left(shard) > 0;
    if (epoch.left(shard) < steps) continue;
    if (!best || epoch.left(shard) < epoch.left(*best)) best = shard;
  }
  if (best || !has_tail) return best;
  const std::optional<std::uint32_t> fresh = epoch.next_new();
  return fresh && epoch.left(*fresh) >= steps ? fresh : std::nullopt;
}

}  // namespace quorate
