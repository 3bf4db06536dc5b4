#include "server/doors/boinc/scheduling/sticky_files.h"

#include <optional>

#include "server/doors/boinc/files/names.h"

namespace quorate::boinc {

StickyShards sort_sticky(std::span<const StickyFile> files,
                         const std::function<bool(const Hash&)>& is_used) {
  StickyShards shards;
  double bytes = 0;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    std::optional<Hash> hash = object_of(file->name);
    if (!hash) continue;
    const bool is_kept = is_used(*hash) &&
                         shards.kept.size() < kMostStickyShards &&
                         bytes + file->bytes <= kMostStickyBytes;
    if (is_kept) {
      shards.kept.push_back(*hash);
      bytes += file->bytes;
    } else {
      shards.deleted.push_back(file->name);
    }
  }
  return shards;
}

}  // namespace quorate::boinc
