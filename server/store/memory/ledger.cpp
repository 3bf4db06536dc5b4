// The store in memory: ledgers, and hosts' shares, which are counted with them.
#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "server/store/ledger_order.h"
#include "server/store/memory/memory_store.h"
#include "server/store/memory/refuse.h"

namespace quorate {

void MemoryStore::append_ledger(RunKey run, const LedgerEntry& entry,
                                const LedgerRecord& record) {
  UndoLog& undo = changing();
  MemoryRun& row = run_of(run);
  expect_next(entry, record, row.ledger.empty() ? 0 : row.ledger.back().seq + 1,
              [&] { return fmt::format("store in memory: run {}", run); });
  if (const auto* about = std::get_if<ResultAssimilated>(&entry.body)) {
    take_in(about->result);
    share(*about, run);
  }
  undo.append(row.ledger, record);
  if (record.kind == "run" || record.kind == "snapshot") {
    undo.set(row.last_snapshot, record);
  }
}

// No result can change a model twice.
void MemoryStore::take_in(ResultId id) {
  if (results_.find(id) == nullptr) refuse("there is no result {}", id);
  const auto bit = static_cast<std::size_t>(id);
  if (in_ledger_.size() <= bit) in_ledger_.resize(bit + 1);
  if (in_ledger_[bit]) refuse("result {} is in a ledger", id);
  in_ledger_[bit] = true;
  undo_.add([this, bit] { in_ledger_[bit] = false; });
}

// An update is part of the version after the one that it was merged into; all
// valid results of its unit share in it.
void MemoryStore::share(const ResultAssimilated& entry, RunKey run) {
  const std::uint64_t version = entry.version_before + 1;
  const Result& merged = *results_.find(entry.result);
  for (ResultId id : unit_of(merged.workunit).results) {
    const Result& result = *results_.find(id);
    if (result.validate_state != ValidateState::valid || result.host == 0) {
      continue;
    }
    auto& shares = host_of(result.host).shares;
    auto found = shares.find(run);
    HostShare now = found == shares.end() ? HostShare{run, 0, version, version}
                                          : found->second;
    ++now.results;
    now.last_version = version;
    undo_.put(shares, run, now);
  }
}

void MemoryStore::withdraw_share(const Result& result) {
  if (result.host == 0 ||
      unit_of(result.workunit).row.state != WorkunitState::assimilated) {
    return;
  }
  auto& shares = host_of(result.host).shares;
  auto found = shares.find(result.run);
  if (found == shares.end()) return;
  undo_.set(found->second.results, found->second.results - 1);
}

std::vector<LedgerRecord> MemoryStore::ledger(RunKey run,
                                              std::uint64_t from_seq,
                                              std::uint64_t limit) {
  std::vector<LedgerRecord> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr || row->ledger.empty()) return found;
  const std::uint64_t first = row->ledger.front().seq;
  const std::uint64_t size = row->ledger.size();
  const std::uint64_t from =
      from_seq < first ? 0 : std::min(from_seq - first, size);
  const std::uint64_t to = from + std::min(limit, size - from);
  found.assign(row->ledger.begin() + static_cast<std::ptrdiff_t>(from),
               row->ledger.begin() + static_cast<std::ptrdiff_t>(to));
  return found;
}

std::optional<LedgerRecord> MemoryStore::ledger_record_of(ResultId id) {
  const Result* result = results_.find(id);
  if (result == nullptr) return std::nullopt;
  const auto& ledger = run_of(result->run).ledger;
  for (auto record = ledger.rbegin(); record != ledger.rend(); ++record) {
    if (record->kind != "result") continue;
    const LedgerEntry entry = parse_entry(record->line);
    if (std::get<ResultAssimilated>(entry.body).result == id) return *record;
  }
  return std::nullopt;
}

std::optional<LedgerRecord> MemoryStore::last_record(RunKey run) {
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr || row->ledger.empty()) return std::nullopt;
  return row->ledger.back();
}

std::optional<LedgerRecord> MemoryStore::last_snapshot_record(RunKey run) {
  const MemoryRun* row = runs_.find(run);
  return row == nullptr ? std::nullopt : row->last_snapshot;
}

}  // namespace quorate
