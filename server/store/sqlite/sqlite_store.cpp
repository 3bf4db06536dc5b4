#include "server/store/sqlite/sqlite_store.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "server/store/ledger_order.h"
#include "server/store/sqlite/rows.h"
#include "server/store/sqlite/schema.h"

namespace quorate {
namespace {

template <class Row>
std::vector<std::int64_t> insert_all(SqliteConnection& connection,
                                     std::span<const Row> rows) {
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (const Row& row : rows) ids.push_back(insert(connection, row));
  return ids;
}

template <class Row>
void update_all(SqliteConnection& connection, std::span<const Row> rows) {
  for (const Row& row : rows) update(connection, row, row.id);
}

}  // namespace

SqliteStore::SqliteStore(const fs::path& path) : connection_(path) {
  connection_.add_function("device_of", device_in);
  migrate(connection_);
}

SqliteConnection& SqliteStore::changing_apart() {
  check(connection_.in_transaction(), "a change of the store before begin()");
  return connection_;
}

SqliteConnection& SqliteStore::changing() {
  write_waiting();
  return changing_apart();
}

SqliteConnection& SqliteStore::reading() {
  write_waiting();
  return connection_;
}

// Whose look it was may take a failure for its own and go on, but the rows are
// others', too: such a transaction must not be committed any more.
void SqliteStore::write_waiting() {
  if (failure_) throw *failure_;
  try {
    write_each_waiting();
  } catch (const Error& error) {
    failure_ = error;
    throw;
  }
}

void SqliteStore::write_each_waiting() {
  for (const auto& [run, cursor] : std::exchange(waiting_cursors_, {})) {
    update(connection_, cursor, run);
  }
  for (const auto& [key, progress] : std::exchange(waiting_progress_, {})) {
    replace(connection_, progress);
  }
  for (const auto& [id, waiting] : std::exchange(waiting_results_, {})) {
    if (waiting.is_new) {
      check(insert(connection_, waiting.result) == id,
            "SQLite gave a result another id than the next");
    } else {
      update(connection_, waiting.result, id);
    }
  }
}

void SqliteStore::begin() {
  check(!connection_.in_transaction(), "begin() within a transaction");
  // Takes the right to write at once: a transaction that asked for it later
  // could fail half way.
  connection_.query("BEGIN IMMEDIATE").run();
  next_result_ = 0;
}

void SqliteStore::commit() {
  write_waiting();
  connection_.query("COMMIT").run();
}

void SqliteStore::rollback() {
  waiting_cursors_.clear();
  waiting_progress_.clear();
  waiting_results_.clear();
  failure_.reset();
  // A full disk makes SQLite roll back on its own.
  if (connection_.in_transaction()) connection_.query("ROLLBACK").run();
}

UserId SqliteStore::insert_user(const User& user) {
  return insert(changing(), user);
}

void SqliteStore::update_users(std::span<const User> users) {
  update_all(changing(), users);
}

std::optional<User> SqliteStore::user_by_key(const PublicKey& key) {
  return select_one<User>(reading(), "WHERE public_key = ?", key);
}

std::optional<User> SqliteStore::user(UserId id) {
  return select_one<User>(reading(), "WHERE id = ?", id);
}

std::vector<User> SqliteStore::users() {
  return select<User>(reading(), "ORDER BY id");
}

void SqliteStore::forget_user(UserId id) {
  static_assert(static_cast<int>(ResultOutcome::client_error) == 3);
  constexpr const char* kStatements[] = {
      "DELETE FROM boinc_accounts WHERE user = ?",
      "DELETE FROM boinc_hosts WHERE host IN "
      "(SELECT id FROM hosts WHERE user = ?)",
      "DELETE FROM device_records WHERE host IN "
      "(SELECT id FROM hosts WHERE user = ?)",
      "UPDATE events SET text = '' WHERE "
      "(substr(kind, 1, 5) = 'host_' OR kind = 'result_failed') AND "
      "host > 0 AND host IN (SELECT id FROM hosts WHERE user = ?)",
      "UPDATE results SET reason = '' WHERE outcome = 3 AND "
      "host IN (SELECT id FROM hosts WHERE user = ?)"};
  for (const char* statement : kStatements) {
    Query query = changing().query(statement);
    query.bind(id);
    query.run();
  }
}

HostId SqliteStore::insert_host(const Host& host) {
  return insert(changing(), host);
}

void SqliteStore::update_hosts(std::span<const Host> hosts) {
  update_all(changing(), hosts);
}

std::optional<Host> SqliteStore::host_by_key(const PublicKey& key) {
  return select_one<Host>(reading(), "WHERE public_key = ?", key);
}

std::vector<Host> SqliteStore::hosts() {
  return select<Host>(reading(), "ORDER BY id");
}

void SqliteStore::replace_device_records(
    std::span<const DeviceRecord> records) {
  for (const DeviceRecord& record : records) replace(changing(), record);
}

void SqliteStore::insert_boinc_account(const BoincAccount& account) {
  insert(changing(), account);
}

std::vector<BoincAccount> SqliteStore::boinc_accounts() {
  return select<BoincAccount>(reading(), "ORDER BY user");
}

void SqliteStore::replace_boinc_hosts(std::span<const BoincHost> hosts) {
  for (const BoincHost& host : hosts) replace(changing(), host);
}

std::vector<BoincHost> SqliteStore::boinc_hosts() {
  return select<BoincHost>(reading(), "ORDER BY host");
}

PeerId SqliteStore::insert_peer(const Peer& peer) {
  return insert(changing(), peer);
}

void SqliteStore::update_peer(const Peer& peer) {
  update(changing(), peer, peer.id);
}

void SqliteStore::remove_peer(PeerId id) {
  Query query = changing().query("DELETE FROM peers WHERE id = ?");
  query.bind(id);
  query.run();
}

std::vector<Peer> SqliteStore::peers() {
  return select<Peer>(reading(), "ORDER BY id");
}

void SqliteStore::replace_allowed_peer(const AllowedPeer& peer) {
  replace(changing(), peer);
}

void SqliteStore::remove_allowed_peer(const std::string& fingerprint) {
  Query query =
      changing().query("DELETE FROM allowed_peers WHERE fingerprint = ?");
  query.bind(fingerprint);
  query.run();
}

std::vector<AllowedPeer> SqliteStore::allowed_peers() {
  return select<AllowedPeer>(reading(), "ORDER BY fingerprint");
}

std::vector<DeviceRecord> SqliteStore::device_records() {
  return select<DeviceRecord>(reading(), "ORDER BY host, device");
}

std::vector<HostShare> SqliteStore::shares_of(HostId host) {
  return select<HostShare>(reading(), "WHERE host = ? ORDER BY run", host);
}

RunKey SqliteStore::insert_run(const Run& run, const RunCursor& cursor) {
  RunKey key = insert(changing(), run);
  update_cursor(key, cursor);
  return key;
}

void SqliteStore::update_run(const Run& run) {
  update(changing(), run, run.key);
}

void SqliteStore::update_cursor(RunKey run, const RunCursor& cursor) {
  changing_apart();
  waiting_cursors_[run] = cursor;
}

std::vector<Run> SqliteStore::runs() {
  return select<Run>(reading(), "ORDER BY id");
}

RunCursor SqliteStore::cursor(RunKey run) {
  return select_one<RunCursor>(reading(), "WHERE id = ?", run)
      .value_or(RunCursor{});
}

void SqliteStore::replace_shard_progress(const ShardProgress& progress) {
  changing_apart();
  waiting_progress_[{progress.run, progress.place}] = progress;
}

std::vector<ShardProgress> SqliteStore::shard_progress(RunKey run,
                                                       std::uint32_t epoch) {
  return select<ShardProgress>(
      reading(), "WHERE run = ? AND epoch = ? ORDER BY place", run, epoch);
}

RunTotals SqliteStore::totals(RunKey run) {
  return select_one<RunTotals>(reading(), "WHERE run = ?", run)
      .value_or(RunTotals{});
}

std::vector<WorkunitId> SqliteStore::insert_workunits(
    std::span<const Workunit> workunits) {
  return insert_all(changing_apart(), workunits);
}

void SqliteStore::update_workunits(std::span<const Workunit> workunits) {
  update_all(changing(), workunits);
}

std::vector<Workunit> SqliteStore::live_workunits() {
  return select<Workunit>(
      reading(),
      "WHERE id IN (SELECT id FROM workunits WHERE state IN (0, 1) UNION "
      "SELECT workunit FROM results WHERE server_state = 4) ORDER BY id");
}

std::optional<Workunit> SqliteStore::workunit(WorkunitId id) {
  return select_one<Workunit>(reading(), "WHERE id = ?", id);
}

std::vector<Workunit> SqliteStore::workunits_to_check(RunKey run) {
  return select<Workunit>(
      reading(), "WHERE run = ? AND check_state IN (2, 4) ORDER BY id", run);
}

std::vector<Workunit> SqliteStore::workunits_unverified(RunKey run) {
  return select<Workunit>(reading(),
                          "WHERE run = ? AND is_unverified = 1 AND state = 2 "
                          "AND check_state <> 5 ORDER BY id",
                          run);
}

std::vector<Workunit> SqliteStore::workunits_with(RunKey run, HostId host,
                                                  bool unchecked) {
  return select<Workunit>(
      reading(),
      "WHERE run = ?1 AND state = 2 AND check_state <= ?3 AND id IN "
      "(SELECT workunit FROM results WHERE host = ?2 AND validate_state = 1) "
      "ORDER BY id",
      run, host, unchecked ? UnitCheck::spot : UnitCheck::sound);
}

void SqliteStore::insert_sealed_tasks(std::span<const SealedTask> tasks) {
  insert_all(changing_apart(), tasks);
}

std::optional<Bytes> SqliteStore::sealed_task(const Hash& object) {
  auto row = select_one<SealedTask>(
      reading(), "WHERE workunit = (SELECT id FROM workunits WHERE object = ?)",
      object);
  if (!row) return std::nullopt;
  return std::move(row->bytes);
}

std::vector<ResultId> SqliteStore::insert_results(
    std::span<const Result> results) {
  SqliteConnection& connection = changing_apart();
  if (next_result_ == 0) {
    next_result_ =
        connection.integer("SELECT coalesce(max(id), 0) + 1 FROM results");
  }
  std::vector<ResultId> ids;
  for (const Result& result : results) {
    ids.push_back(next_result_);
    waiting_results_[next_result_++] = {result, true};
  }
  return ids;
}

void SqliteStore::update_results(std::span<const Result> results) {
  changing_apart();
  for (const Result& result : results) {
    waiting_results_[result.id].result = result;
  }
}

std::vector<Result> SqliteStore::results_of(
    std::span<const WorkunitId> workunits) {
  std::vector<Result> all;
  for (WorkunitId id : workunits) {
    std::vector<Result> some =
        select<Result>(reading(), "WHERE workunit = ?", id);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(),
            [](const Result& a, const Result& b) { return a.id < b.id; });
  return all;
}

std::optional<Result> SqliteStore::result(ResultId id) {
  return select_one<Result>(reading(), "WHERE id = ?", id);
}

std::vector<Result> SqliteStore::rejected_results(RunKey run,
                                                  const Page& page) {
  return select<Result>(reading(),
                        "WHERE validate_state = 2 AND run = ? AND id < ? "
                        "ORDER BY id DESC LIMIT ?",
                        run, page.before_id, limit_of(page.limit));
}

void SqliteStore::append_ledger(RunKey run, const LedgerEntry& entry,
                                const LedgerRecord& record) {
  SqliteConnection& connection = changing();
  const std::optional<LedgerRecord> last = last_record(run);
  expect_next(entry, record, last ? last->seq + 1 : 0, [&] {
    return fmt::format("store {}: run {}", connection.path().string(), run);
  });
  LedgerRow row{run, record, 0};
  if (auto* about = std::get_if<ResultAssimilated>(&entry.body)) {
    row.result = about->result;
  }
  insert(connection, row);
}

std::vector<LedgerRecord> SqliteStore::ledger(RunKey run,
                                              std::uint64_t from_seq,
                                              std::uint64_t limit) {
  std::vector<LedgerRecord> records;
  for (LedgerRow& row : select<LedgerRow>(
           reading(), "WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?", run,
           limit_of(from_seq), limit_of(limit))) {
    records.push_back(std::move(row.record));
  }
  return records;
}

std::optional<LedgerRecord> SqliteStore::ledger_record_of(ResultId result) {
  auto row = select_one<LedgerRow>(reading(), "WHERE result = ?", result);
  if (!row) return std::nullopt;
  return std::move(row->record);
}

std::optional<LedgerRecord> SqliteStore::last_record(RunKey run) {
  auto row = select_one<LedgerRow>(
      reading(), "WHERE run = ? ORDER BY seq DESC LIMIT 1", run);
  if (!row) return std::nullopt;
  return std::move(row->record);
}

std::optional<LedgerRecord> SqliteStore::last_snapshot_record(RunKey run) {
  auto row =
      select_one<LedgerRow>(reading(),
                            "WHERE run = ? AND kind IN ('run', 'snapshot') "
                            "ORDER BY seq DESC LIMIT 1",
                            run);
  if (!row) return std::nullopt;
  return std::move(row->record);
}

void SqliteStore::insert_evaluation(const Evaluation& evaluation) {
  // A version that is evaluated again (a server died before it could commit)
  // keeps its latest figures.
  replace(changing(), evaluation);
}

std::vector<Evaluation> SqliteStore::evaluations(RunKey run) {
  return select<Evaluation>(reading(), "WHERE run = ? ORDER BY version", run);
}

void SqliteStore::append_order(const OrderRecord& record) {
  insert(changing(), record);
}

std::vector<OrderRecord> SqliteStore::orders(std::uint64_t from_seq,
                                             std::uint64_t limit) {
  return select<OrderRecord>(reading(), "WHERE seq >= ? ORDER BY seq LIMIT ?",
                             limit_of(from_seq), limit_of(limit));
}

std::optional<OrderRecord> SqliteStore::last_order() {
  return select_one<OrderRecord>(reading(), "ORDER BY seq DESC LIMIT 1");
}

std::uint64_t SqliteStore::orders_made() {
  return static_cast<std::uint64_t>(
      reading().integer("SELECT coalesce(max(seq), 0) FROM sqlite_sequence "
                        "WHERE name = 'orders'"));
}

void SqliteStore::insert_events(std::span<const Event> events) {
  insert_all(changing(), events);
}

std::vector<Event> SqliteStore::events(const Page& page) {
  return select<Event>(reading(), "WHERE id < ? ORDER BY id DESC LIMIT ?",
                       page.before_id, limit_of(page.limit));
}

std::unique_ptr<Store> open_sqlite_store(const fs::path& path) {
  return std::make_unique<SqliteStore>(path);
}

}  // namespace quorate
