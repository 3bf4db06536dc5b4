// What of the objects the store names, for the file deleter and `quorate
// storage`. It is read beside the thread that writes, on a connection and in a
// read transaction of its own, so that it takes none of that thread's time.
// With a million results it takes seconds. While it lives, SQLite keeps what it
// may still read: the write-ahead log grows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/file.h"
#include "workunits/workunit.h"

namespace quorate {

// Why the store names an object. server/objects/retention says how long each
// kind is kept.
enum class NameKind {
  payload,   // of a result that is not in the ledger
  update,    // of one that is
  task,      // a sealed task that an earlier version made, as a file
  shard,     // of a run's training part
  snapshot,  // published, or base of a live unit or of one that a restart
             // applies again
};

// One reason to keep one object. An object may have many names, also of several
// runs; whoever counts has to join them.
// is_live and is_revoked are facts of the unit, not a verdict: whether the
// object may go is decided by server/objects/retention, which knows the clock
// and the operator's settings.
struct ObjectName {
  Hash hash;
  RunKey run = 0;
  NameKind kind = NameKind::payload;
  // Of a live unit: one that is undecided, or has a result in progress.
  bool is_live = false;
  // Its update was in the ledger and was revoked as false.
  bool is_revoked = false;
  HostId host = 0;  // of a payload: who sent it
};

// Sealed tasks of a run: rows of the store, not objects. bytes: as stored.
struct TaskTotals {
  RunKey run = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// The store as it was at one moment: when this was made. For one thread. All
// throw corrupt if a row cannot be read: then nobody may conclude that an
// object has no name.
class StoreNames {
 public:
  virtual ~StoreNames() = default;

  virtual std::vector<Run> runs() = 0;
  // Shows every name, in no order and one at a time; what `see` throws passes
  // and ends the look. Needs little memory, however many there are.
  virtual void names(const std::function<void(const ObjectName&)>& see) = 0;
  // The sealed tasks that are rows of the store, by run.
  virtual std::vector<TaskTotals> task_totals() = 0;
};

// Begins the look. Throws unsupported if the schema is not this program's,
// corrupt, io. Never changes the file.
std::unique_ptr<StoreNames> read_sqlite_names(const fs::path& path);

}  // namespace quorate
