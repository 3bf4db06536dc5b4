#include "server/file_deleter.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace quorate {
namespace {

// Runs that start alike may reach the same bits, and then share objects.
bool has_twin(const ProjectState& state, const TrainingRun& training) {
  return std::any_of(state.runs.begin(), state.runs.end(), [&](const auto& r) {
    const Run& other = r.second.run;
    return other.key != training.run.key && other.seed == training.run.seed &&
           other.model == training.run.model;
  });
}

}  // namespace

std::vector<Hash> take_old_snapshots(const ProjectState& state,
                                     TrainingRun& training) {
  if (has_twin(state, training)) return {};
  std::set<Hash> needed;
  for (const auto& [id, live] : state.feeder.units()) {
    needed.insert(live.unit.snapshot);
  }
  std::vector<Hash> old;
  std::erase_if(training.own_snapshots, [&](const Hash& hash) {
    if (needed.contains(hash)) return false;
    old.push_back(hash);
    return true;
  });
  return old;
}

std::optional<FileLock> right_to_remove(const ProjectFolder& folder) {
  try {
    return FileLock(folder.backup_lock());
  } catch (const Error&) {
    // Taken, or the disk is full: what stays now is removed another time.
    return std::nullopt;
  }
}

}  // namespace quorate
