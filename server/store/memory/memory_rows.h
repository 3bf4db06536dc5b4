// The rows of the store in memory: each with what is found by way of it.
//
// The room server/store/memory implements Store in maps of the process. It may
// include server/store and owns nothing outside the store object.
//
// SQLite has indexes and triggers; here the same is kept by hand, beside the
// row that it is found by. Whatever a MemoryStore changes in these members, it
// changes through its undo log.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/store/store.h"

namespace quorate {

// A host, and what is asked by host.
struct MemoryHost {
  Host row;
  std::map<std::pair<std::string, std::uint32_t>, DeviceRecord> devices;
  std::map<RunKey, HostShare> shares;
  std::set<ResultId> valid;  // its valid results
  std::optional<BoincHost> boinc;
};

// A run, and what is asked by run. totals and rejected follow from results,
// to_check and unverified from workunits; follow() and list() keep them.
struct MemoryRun {
  Run row;
  RunCursor cursor;
  RunTotals totals;
  std::map<std::uint32_t, ShardProgress> progress;  // by place
  std::map<std::uint64_t, Evaluation> evaluations;  // by version
  // The next three are what rejected_results(), workunits_to_check() and
  // workunits_unverified() give.
  std::set<ResultId> rejected;
  std::set<WorkunitId> to_check;
  std::set<WorkunitId> unverified;
  // What was dropped at its front is not to be had any more; its end is what
  // the next record must follow.
  std::deque<LedgerRecord> ledger;  // its last ones, without a gap
  std::optional<LedgerRecord> last_snapshot;
};

// A workunit and the ids of its results; the results are in a table of their
// own, as they are asked for by id, too.
struct MemoryUnit {
  Workunit row;
  std::vector<ResultId> results;  // ascending
  bool is_closed = false;         // among those that may be dropped
};

}  // namespace quorate
