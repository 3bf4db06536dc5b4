// Where two devices part in a unit: which operation of which step first writes
// other bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "client/worker/checks/pair_backend.h"

namespace quorate::worker {

struct UnitFilesToExplain {
  fs::path workunit;  // sealed; the seal is not checked, nothing is sent
  fs::path snapshot;
  fs::path shard;
};

struct Explanation {
  std::string devices;
  std::uint32_t steps = 0;       // computed, the one with the difference too
  std::uint64_t operations = 0;  // compared, the one that differs too
  std::uint64_t in_step = 0;     // its number in its step, from 1
  std::optional<OperationDifference> difference;
};

// Computes the unit on both devices side by side, up to the first difference.
// Throws corrupt if the snapshot or the shard is not the task's, as Trainer and
// read_file do otherwise.
Explanation explain(const UnitFilesToExplain& files, PairBackend& devices);

// For people.
std::string text_of(const Explanation& explanation);

}  // namespace quorate::worker
