// The rows of the store in memory: each with what is found by way of it.
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

struct MemoryHost {
  Host row;
  std::map<std::pair<std::string, std::uint32_t>, DeviceRecord> devices;
  std::map<RunKey, HostShare> shares;
  std::set<ResultId> valid;  // its valid results
  std::optional<BoincHost> boinc;
};

struct MemoryRun {
  Run row;
  RunCursor cursor;
  RunTotals totals;
  std::map<std::uint32_t, ShardProgress> progress;  // by place
  std::map<std::uint64_t, Evaluation> evaluations;  // by version
  std::set<ResultId> rejected;
  std::set<WorkunitId> to_check;
  std::deque<LedgerRecord> ledger;  // its last ones, without a gap
  std::optional<LedgerRecord> last_snapshot;
};

struct MemoryUnit {
  Workunit row;
  std::vector<ResultId> results;  // ascending
  bool is_closed = false;         // among those that may be dropped
};

}  // namespace quorate
