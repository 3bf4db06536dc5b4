// What of the objects the store names: read beside the thread that writes, in a
// transaction of its own, so that it takes none of that thread's time. With a
// million results it takes seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/file.h"
#include "workunits/workunit.h"

namespace quorate {

// Why the store names an object.
enum class NameKind {
  payload,   // of a result that is not in the ledger
  update,    // of one that is
  task,      // a sealed task that an earlier version made, as a file
  shard,     // of a run's training part
  snapshot,  // published, or base of a live unit or of one that a restart
             // applies again
};

// An object may have many names.
struct ObjectName {
  Hash hash;
  RunKey run = 0;
  NameKind kind = NameKind::payload;
  // Of a live unit: one that is undecided, or has a result in progress.
  bool is_live = false;
  // Its update was in the ledger and was revoked as false.
  bool is_revoked = false;
};

struct TaskTotals {
  RunKey run = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// The store as it was at one moment: when it was made.
class StoreNames {
 public:
  virtual ~StoreNames() = default;

  virtual std::vector<Run> runs() = 0;
  // Shows every name, in no order; what `see` throws passes.
  virtual void names(const std::function<void(const ObjectName&)>& see) = 0;
  // The sealed tasks that are rows of the store, by run.
  virtual std::vector<TaskTotals> task_totals() = 0;
};

// Throws unsupported if the schema is not this program's, corrupt, io.
std::unique_ptr<StoreNames> read_sqlite_names(const fs::path& path);

}  // namespace quorate
