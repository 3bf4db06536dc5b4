// What becomes of the shards that a client keeps: sticky files stay with it
// until it is told to delete them. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "protocol/boinc/scheduler_request.h"

namespace quorate::boinc {

// So many shards a client keeps at most, and so many bytes of them. It names
// each of them in every request, which may name 4096.
inline constexpr std::size_t kMostStickyShards = 1000;
inline constexpr double kMostStickyBytes = 4e9;

struct StickyShards {
  std::vector<Hash> kept;
  std::vector<std::string> deleted;  // names of files
};

// Deleted are shards that no run is trained on any more, and of the others
// those that are too many: the first that it names, which it has longest. Files
// that are not named as objects are left alone. A client deletes what a task
// still needs after that.
StickyShards sort_sticky(std::span<const StickyFile> files,
                         const std::function<bool(const Hash&)>& is_used);

}  // namespace quorate::boinc
