#include "workunits/assignment.h"

#include "base/error.h"

namespace quorate {

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::workunit:
      return "workunit";
    case ObjectKind::snapshot:
      return "snapshot";
    case ObjectKind::shard:
      return "shard";
    case ObjectKind::update:
      return "update";
    case ObjectKind::program:
      return "program";
    case ObjectKind::delta:
      return "delta";
  }
  check(false, "an object kind without a name");
  return {};
}

std::span<const SnapshotStep> shortest_way(
    const Assignment& assignment,
    const std::function<bool(const Hash& snapshot)>& has) {
  const std::span<const SnapshotStep> steps = assignment.deltas;
  for (std::size_t left = 1; left <= steps.size(); ++left) {
    const auto way = steps.last(left);
    if (has(way.front().from)) return way;
  }
  return {};
}

}  // namespace quorate
