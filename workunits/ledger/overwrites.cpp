#include "workunits/ledger/overwrites.h"

namespace quorate {

void Overwrites::take_in(const ResultAssimilated& entry) {
  if (entry.read_version) read_[entry.version_after] = *entry.read_version;
}

std::vector<Overwrites::Range> Overwrites::in(std::uint64_t version) const {
  std::vector<Range> ranges;
  for (auto made = read_.rbegin(); made != read_.rend(); ++made) {
    const auto [after, read] = *made;
    if (after > version) continue;  // overwritten itself, or later
    if (read + 1 < after) ranges.push_back({read + 1, after - 1});
    version = read;
  }
  return ranges;
}

std::uint64_t Overwrites::count(std::uint64_t version) const {
  std::uint64_t versions = 0;
  for (const Range& range : in(version)) {
    versions += range.last - range.first + 1;
  }
  return versions;
}

}  // namespace quorate
