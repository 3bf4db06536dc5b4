#include "server/store/memory/memory_store.h"

#include <algorithm>

#include "base/error.h"
#include "server/store/memory/refuse.h"

namespace quorate {

MemoryStore::MemoryStore(const MemoryStoreOptions& options)
    : options_(options) {
  User house;
  house.id = kHouseUser;
  house.name = "house workers";
  user_keys_.emplace(house.key, users_.next_id());
  users_.add(house);
}

UndoLog& MemoryStore::changing() {
  check(in_transaction_, "a change of the store before begin()");
  return undo_;
}

void MemoryStore::begin() {
  check(!in_transaction_, "begin() within a transaction");
  in_transaction_ = true;
}

void MemoryStore::commit() {
  check(in_transaction_, "commit() without begin()");
  undo_.forget();
  in_transaction_ = false;
  drop_closed();
  runs_.each([this](MemoryRun& run) {
    const std::uint64_t most =
        std::max<std::uint64_t>(options_.ledger_records, 1);
    while (run.ledger.size() > most) run.ledger.pop_front();
  });
  while (events_.size() > options_.events) events_.pop_front();
}

void MemoryStore::rollback() {
  undo_.undo();
  touched_.clear();
  in_transaction_ = false;
}

// It may become undecided again while it waits to be dropped, and is then
// touched once more.
void MemoryStore::drop_closed() {
  for (WorkunitId id : touched_) {
    MemoryUnit& unit = unit_of(id);
    if (unit.is_closed || !may_be_dropped(unit)) continue;
    unit.is_closed = true;
    closed_.push_back(id);
  }
  touched_.clear();
  while (closed_.size() > options_.closed_units) {
    const WorkunitId id = closed_.front();
    closed_.pop_front();
    MemoryUnit& unit = unit_of(id);
    unit.is_closed = false;
    if (may_be_dropped(unit)) drop(id);
  }
}

RunKey MemoryStore::insert_run(const Run& run, const RunCursor& cursor) {
  changing();
  runs_.each([&](const MemoryRun& other) {
    if (other.row.id == run.id) refuse("run {} is there already", run.id.hex());
  });
  MemoryRun row;
  row.row = run;
  row.row.key = runs_.next_id();
  row.cursor = cursor;
  return add(runs_, std::move(row)).row.key;
}

void MemoryStore::update_run(const Run& run) {
  changing().set(run_of(run.key).row, run);
}

void MemoryStore::update_cursor(RunKey run, const RunCursor& cursor) {
  changing().set(run_of(run).cursor, cursor);
}

std::vector<Run> MemoryStore::runs() {
  std::vector<Run> all;
  runs_.each([&](const MemoryRun& run) { all.push_back(run.row); });
  return all;
}

RunCursor MemoryStore::cursor(RunKey run) {
  const MemoryRun* row = runs_.find(run);
  return row == nullptr ? RunCursor{} : row->cursor;
}

void MemoryStore::replace_shard_progress(const ShardProgress& progress) {
  changing().put(run_of(progress.run).progress, progress.place, progress);
}

std::vector<ShardProgress> MemoryStore::shard_progress(RunKey run,
                                                       std::uint32_t epoch) {
  std::vector<ShardProgress> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr) return found;
  for (const auto& [place, progress] : row->progress) {
    if (progress.epoch == epoch) found.push_back(progress);
  }
  return found;
}

RunTotals MemoryStore::totals(RunKey run) {
  const MemoryRun* row = runs_.find(run);
  return row == nullptr ? RunTotals{} : row->totals;
}

void MemoryStore::insert_evaluation(const Evaluation& evaluation) {
  changing().put(run_of(evaluation.run).evaluations, evaluation.version,
                 evaluation);
}

std::vector<Evaluation> MemoryStore::evaluations(RunKey run) {
  std::vector<Evaluation> found;
  const MemoryRun* row = runs_.find(run);
  if (row == nullptr) return found;
  for (const auto& [version, evaluation] : row->evaluations) {
    found.push_back(evaluation);
  }
  return found;
}

void MemoryStore::append_order(const OrderRecord& record) {
  UndoLog& undo = changing();
  if (record.seq != orders_.size() + 1) {
    refuse("order {} does not follow order {}", record.seq, orders_.size());
  }
  undo.append(orders_, record);
}

std::vector<OrderRecord> MemoryStore::orders(std::uint64_t from_seq,
                                             std::uint64_t limit) {
  std::vector<OrderRecord> found;
  for (const OrderRecord& record : orders_) {
    if (record.seq >= from_seq && found.size() < limit) found.push_back(record);
  }
  return found;
}

std::optional<OrderRecord> MemoryStore::last_order() {
  return orders_.empty() ? std::nullopt : std::optional(orders_.back());
}

void MemoryStore::insert_events(std::span<const Event> events) {
  UndoLog& undo = changing();
  for (Event event : events) {
    if (event.run != 0) run_of(event.run);
    if (event.host != 0) host_of(event.host);
    event.id = next_event_;
    undo.set(next_event_, next_event_ + 1);
    undo.append(events_, std::move(event));
  }
}

std::vector<Event> MemoryStore::events(const Page& page) {
  std::vector<Event> found;
  for (auto event = events_.rbegin();
       event != events_.rend() && found.size() < page.limit; ++event) {
    if (event->id < page.before_id) found.push_back(*event);
  }
  return found;
}

MemoryRun& MemoryStore::run_of(RunKey run) {
  MemoryRun* row = runs_.find(run);
  if (row == nullptr) refuse("there is no run {}", run);
  return *row;
}

MemoryHost& MemoryStore::host_of(HostId host) {
  MemoryHost* row = hosts_.find(host);
  if (row == nullptr) refuse("there is no host {}", host);
  return *row;
}

MemoryUnit& MemoryStore::unit_of(WorkunitId unit) {
  MemoryUnit* row = units_.find(unit);
  if (row == nullptr) refuse("there is no workunit {}", unit);
  return *row;
}

void MemoryStore::expect_user(UserId user) {
  if (users_.find(user) == nullptr) refuse("there is no user {}", user);
}

std::unique_ptr<Store> open_memory_store(const MemoryStoreOptions& options) {
  return std::make_unique<MemoryStore>(options);
}

}  // namespace quorate
