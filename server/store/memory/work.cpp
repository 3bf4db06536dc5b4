// The store in memory: workunits, their sealed tasks and results.
#include <algorithm>

#include "server/store/memory/memory_store.h"
#include "server/store/memory/refuse.h"

namespace quorate {
namespace {

// What unsigned sums are multiplied with.
constexpr std::uint64_t kOnce = 1;
constexpr std::uint64_t kAway = UINT64_MAX;  // -1

bool is_over(const Workunit& unit) {
  return unit.state != WorkunitState::open &&
         unit.state != WorkunitState::validated;
}

bool is_to_check(const Workunit& unit) {
  return unit.check == UnitCheck::recheck || unit.check == UnitCheck::unsound;
}

bool is_unverified(const Workunit& unit) {
  return unit.is_unverified && unit.state == WorkunitState::assimilated &&
         unit.check != UnitCheck::revoked;
}

bool is_valid_of_host(const Result& result) {
  return result.host != 0 && result.validate_state == ValidateState::valid;
}

bool is_rejected(const Result& result) {
  return result.validate_state == ValidateState::invalid;
}

// What is revoked is no longer part of the model.
void add_to(RunTotals& totals, const Workunit& unit, std::uint64_t times) {
  const std::uint64_t revoked = unit.check == UnitCheck::revoked;
  const std::uint64_t merged =
      (unit.state == WorkunitState::assimilated) - revoked;
  totals.units_made += times;
  totals.units_closed += times * is_over(unit);
  totals.results_assimilated += times * merged;
  totals.results_revoked += times * revoked;
  totals.samples += times * merged * unit.samples;
}

void add_to(RunTotals& totals, const Result& result, std::uint64_t times) {
  totals.results_valid +=
      times * (result.validate_state == ValidateState::valid);
  totals.results_rejected += times * is_rejected(result);
}

// The newest that `wants` takes, as a page asks.
template <class Rows, class RowOf, class Wants>
auto newest_of(Rows& rows, const Page& page, RowOf row_of, Wants wants) {
  std::vector<std::decay_t<decltype(row_of(*rows.find(0)))>> found;
  if (page.limit == 0) return found;
  rows.newest(page.before_id, [&](const auto& row) {
    if (wants(row)) found.push_back(row_of(row));
    return found.size() < page.limit;
  });
  return found;
}

constexpr Page kAllRows{UINT64_MAX, INT64_MAX};

}  // namespace

std::vector<WorkunitId> MemoryStore::insert_workunits(
    std::span<const Workunit> workunits) {
  UndoLog& undo = changing();
  std::vector<WorkunitId> ids;
  for (const Workunit& unit : workunits) {
    MemoryRun& run = run_of(unit.run);
    expect_canonical(unit);
    MemoryUnit row;
    row.row = unit;
    row.row.id = units_.next_id();
    const Workunit& added = add(units_, std::move(row)).row;
    list(run, added);
    RunTotals totals = run.totals;
    add_to(totals, added, kOnce);
    undo.set(run.totals, totals);
    touched_.push_back(added.id);
    ids.push_back(added.id);
  }
  return ids;
}

void MemoryStore::update_workunits(std::span<const Workunit> workunits) {
  UndoLog& undo = changing();
  for (const Workunit& unit : workunits) {
    Workunit& row = unit_of(unit.id).row;
    expect_canonical(unit);
    MemoryRun& run = run_of(row.run);
    Workunit now = unit;
    now.run = row.run;
    now.object = row.object;
    if (now.state != row.state || now.check != row.check) {
      RunTotals totals = run.totals;
      add_to(totals, row, kAway);
      add_to(totals, now, kOnce);
      undo.set(run.totals, totals);
      list(run, now);
    }
    undo.set(row, std::move(now));
    touched_.push_back(unit.id);
  }
}

void MemoryStore::list(MemoryRun& run, const Workunit& unit) {
  auto put = [&](std::set<WorkunitId>& set, bool is_in) {
    if (is_in) {
      undo_.insert(set, unit.id);
    } else {
      undo_.erase(set, unit.id);
    }
  };
  put(run.to_check, is_to_check(unit));
  put(run.unverified, is_unverified(unit));
}

void MemoryStore::expect_canonical(const Workunit& unit) {
  if (unit.canonical_result == 0) return;
  if (results_.find(unit.canonical_result) == nullptr) {
    refuse("there is no result {}", unit.canonical_result);
  }
}

// Asked for once, at the start.
std::vector<Workunit> MemoryStore::live_workunits() {
  std::vector<Workunit> live;
  units_.each([&](const MemoryUnit& unit) {
    if (is_live(unit)) live.push_back(unit.row);
  });
  return live;
}

bool MemoryStore::is_live(const MemoryUnit& unit) {
  return !is_over(unit.row) ||
         std::any_of(unit.results.begin(), unit.results.end(),
                     [this](ResultId id) {
                       return results_.find(id)->server_state ==
                              ServerState::in_progress;
                     });
}

std::optional<Workunit> MemoryStore::workunit(WorkunitId id) {
  const MemoryUnit* unit = units_.find(id);
  return unit == nullptr ? std::nullopt : std::optional(unit->row);
}

bool MemoryStore::is_wanted(const WorkunitFilter& filter,
                            const MemoryUnit& unit) {
  const ResultFilter holder = filter.holder();
  return matches(filter, unit.row) &&
         (!filter.has_holder() ||
          std::any_of(unit.results.begin(), unit.results.end(),
                      [&](ResultId id) {
                        return matches(holder, *results_.find(id));
                      }));
}

std::vector<Workunit> MemoryStore::workunits(const WorkunitFilter& filter,
                                             const Page& page) {
  return newest_of(
      units_, page,
      [](const MemoryUnit& unit) -> const Workunit& { return unit.row; },
      [&](const MemoryUnit& unit) { return is_wanted(filter, unit); });
}

std::uint64_t MemoryStore::count(const WorkunitFilter& filter) {
  return workunits(filter, kAllRows).size();
}

std::vector<Workunit> MemoryStore::workunits_to_check(RunKey run) {
  std::vector<Workunit> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr) return found;
  for (WorkunitId id : row->to_check) found.push_back(unit_of(id).row);
  return found;
}

std::vector<Workunit> MemoryStore::workunits_unverified(RunKey run) {
  std::vector<Workunit> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr) return found;
  for (WorkunitId id : row->unverified) found.push_back(unit_of(id).row);
  return found;
}

std::vector<Workunit> MemoryStore::workunits_with(RunKey run, HostId host,
                                                  bool unchecked) {
  std::vector<Workunit> found;
  const MemoryHost* row = hosts_.find(host);
  if (row == nullptr) return found;
  const UnitCheck last = unchecked ? UnitCheck::spot : UnitCheck::sound;
  std::set<WorkunitId> units;
  for (ResultId id : row->valid) units.insert(results_.find(id)->workunit);
  for (WorkunitId id : units) {
    const Workunit& unit = unit_of(id).row;
    if (unit.run == run && unit.state == WorkunitState::assimilated &&
        unit.check <= last) {
      found.push_back(unit);
    }
  }
  return found;
}

void MemoryStore::insert_sealed_tasks(std::span<const SealedTask> tasks) {
  UndoLog& undo = changing();
  for (const SealedTask& task : tasks) {
    const Hash& object = unit_of(task.workunit).row.object;
    if (sealed_.contains(object)) {
      refuse("workunit {} has a sealed task", task.workunit);
    }
    undo.put(sealed_, object, task.bytes);
  }
}

std::optional<Bytes> MemoryStore::sealed_task(const Hash& object) {
  auto found = sealed_.find(object);
  if (found == sealed_.end()) return std::nullopt;
  return found->second;
}

std::vector<ResultId> MemoryStore::insert_results(
    std::span<const Result> results) {
  UndoLog& undo = changing();
  std::vector<ResultId> ids;
  for (const Result& result : results) {
    MemoryUnit& unit = unit_of(result.workunit);
    run_of(result.run);
    expect_holder(result);
    Result row = result;
    row.id = results_.next_id();
    const Result& added = add(results_, std::move(row));
    undo.append(unit.results, added.id);
    follow(Result{}, added);
    ids.push_back(added.id);
  }
  return ids;
}

void MemoryStore::update_results(std::span<const Result> results) {
  UndoLog& undo = changing();
  for (const Result& result : results) {
    Result* row = results_.find(result.id);
    if (row == nullptr) refuse("there is no result {}", result.id);
    expect_holder(result);
    Result now = result;
    now.workunit = row->workunit;
    now.run = row->run;
    follow(*row, now);
    undo.set(*row, std::move(now));
  }
}

void MemoryStore::expect_holder(const Result& result) {
  if (result.host != 0) host_of(result.host);
  if (result.user != 0) expect_user(result.user);
}

void MemoryStore::follow(const Result& old, const Result& now) {
  touched_.push_back(now.workunit);
  if (old.validate_state == now.validate_state && old.host == now.host) return;
  MemoryRun& run = run_of(now.run);
  if (is_valid_of_host(old)) undo_.erase(host_of(old.host).valid, now.id);
  if (is_valid_of_host(now)) undo_.insert(host_of(now.host).valid, now.id);
  if (is_rejected(old)) undo_.erase(run.rejected, now.id);
  if (is_rejected(now)) undo_.insert(run.rejected, now.id);
  RunTotals totals = run.totals;
  add_to(totals, old, kAway);
  add_to(totals, now, kOnce);
  undo_.set(run.totals, totals);
  if (old.validate_state == ValidateState::valid && is_rejected(now)) {
    withdraw_share(now);
  }
}

std::vector<Result> MemoryStore::results_of(
    std::span<const WorkunitId> workunits) {
  std::vector<ResultId> ids;
  for (WorkunitId id : workunits) {
    const MemoryUnit* unit = units_.find(id);
    if (unit == nullptr) continue;
    ids.insert(ids.end(), unit->results.begin(), unit->results.end());
  }
  std::sort(ids.begin(), ids.end());
  std::vector<Result> found;
  found.reserve(ids.size());
  for (ResultId id : ids) found.push_back(*results_.find(id));
  return found;
}

std::optional<Result> MemoryStore::result(ResultId id) {
  const Result* row = results_.find(id);
  return row == nullptr ? std::nullopt : std::optional(*row);
}

std::vector<Result> MemoryStore::results(const ResultFilter& filter,
                                         const Page& page) {
  return newest_of(
      results_, page, [](const Result& row) -> const Result& { return row; },
      [&](const Result& row) { return matches(filter, row); });
}

std::uint64_t MemoryStore::count(const ResultFilter& filter) {
  return results(filter, kAllRows).size();
}

std::vector<Result> MemoryStore::rejected_results(RunKey run,
                                                  const Page& page) {
  std::vector<Result> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr) return found;
  auto at = row->rejected.lower_bound(page.before_id);
  while (at != row->rejected.begin() && found.size() < page.limit) {
    found.push_back(*results_.find(*--at));
  }
  return found;
}

bool MemoryStore::may_be_dropped(const MemoryUnit& unit) {
  return !is_live(unit) && !is_to_check(unit.row) &&
         unit.row.check != UnitCheck::revoked && !is_unverified(unit.row);
}

void MemoryStore::drop(WorkunitId id) {
  const MemoryUnit& unit = unit_of(id);
  MemoryRun& run = run_of(unit.row.run);
  for (ResultId result : unit.results) {
    const HostId host = results_.find(result)->host;
    if (host != 0) host_of(host).valid.erase(result);
    run.rejected.erase(result);
    results_.drop(result);
  }
  sealed_.erase(unit.row.object);
  units_.drop(id);
}

}  // namespace quorate
