// The store of one machine: one SQLite file with a write-ahead log, where a
// commit is durable when it returns.
//
// For the meaning of the functions see server/store/store.h. Each is a
// statement over the columns of tables.h, with an index for every question that
// is asked while the server runs. A commit takes one sync of the disk, some
// milliseconds: the writer's thread shares it among all jobs that wait.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "server/store/sqlite/connection.h"
#include "server/store/store.h"

namespace quorate {

class SqliteStore final : public Store {
 public:
  // Creates or migrates the file at `path`; ":memory:" is a store in memory.
  // Throws as open_sqlite_store().
  explicit SqliteStore(const fs::path& path);

  // A failure to write what waits makes every later call of the transaction
  // throw the same, so that it cannot be committed by mistake.
  void begin() override;
  void commit() override;
  void rollback() override;

  // People: found by id or by the unique index of their key. The server asks at
  // its start and has them in memory then.
  UserId insert_user(const User& user) override;
  void update_users(std::span<const User> users) override;
  std::optional<User> user_by_key(const PublicKey& key) override;
  std::optional<User> user(UserId id) override;
  std::vector<User> users() override;
  void forget_user(UserId id) override;

  HostId insert_host(const Host& host) override;
  void update_hosts(std::span<const Host> hosts) override;
  std::optional<Host> host_by_key(const PublicKey& key) override;
  std::vector<Host> hosts() override;
  // Each replaces by INSERT OR REPLACE, a statement a row.
  void replace_device_records(std::span<const DeviceRecord> records) override;
  std::vector<DeviceRecord> device_records() override;
  std::vector<HostShare> shares_of(HostId host) override;
  void insert_boinc_account(const BoincAccount& account) override;
  std::vector<BoincAccount> boinc_accounts() override;
  void replace_boinc_hosts(std::span<const BoincHost> hosts) override;
  std::vector<BoincHost> boinc_hosts() override;

  PeerId insert_peer(const Peer& peer) override;
  void update_peer(const Peer& peer) override;
  void remove_peer(PeerId id) override;
  std::vector<Peer> peers() override;
  void replace_allowed_peer(const AllowedPeer& peer) override;
  void remove_allowed_peer(const std::string& fingerprint) override;
  std::vector<AllowedPeer> allowed_peers() override;

  // The cursor is a part of the run's row, but is written when it is read or
  // committed.
  RunKey insert_run(const Run& run, const RunCursor& cursor) override;
  void update_run(const Run& run) override;
  void update_cursor(RunKey run, const RunCursor& cursor) override;
  std::vector<Run> runs() override;
  RunCursor cursor(RunKey run) override;
  void replace_shard_progress(const ShardProgress& progress) override;
  std::vector<ShardProgress> shard_progress(RunKey run,
                                            std::uint32_t epoch) override;
  // One row, which triggers keep.
  RunTotals totals(RunKey run) override;

  // Units: by id, by run (a page goes down the index), and by partial indexes
  // for those that are live or to be checked.
  std::vector<WorkunitId> insert_workunits(
      std::span<const Workunit> workunits) override;
  void update_workunits(std::span<const Workunit> workunits) override;
  std::vector<Workunit> live_workunits() override;
  std::optional<Workunit> workunit(WorkunitId id) override;
  std::vector<Workunit> workunits(const WorkunitFilter& filter,
                                  const Page& page) override;
  std::uint64_t count(const WorkunitFilter& filter) override;

  std::vector<Workunit> workunits_to_check(RunKey run) override;
  std::vector<Workunit> workunits_unverified(RunKey run) override;
  std::vector<Workunit> workunits_with(RunKey run, HostId host,
                                       bool unchecked) override;
  // A task is found through the index of its workunit's object.
  void insert_sealed_tasks(std::span<const SealedTask> tasks) override;
  std::optional<Bytes> sealed_task(const Hash& object) override;

  // Ids are given out here, counted on from the greatest in the table, which is
  // read once per transaction; the rows follow when they are read or committed.
  std::vector<ResultId> insert_results(
      std::span<const Result> results) override;
  // Waits as insert_results does: only the last state of a result within a
  // transaction reaches the disk.
  void update_results(std::span<const Result> results) override;
  std::vector<Result> results_of(
      std::span<const WorkunitId> workunits) override;
  std::optional<Result> result(ResultId id) override;
  std::vector<Result> results(const ResultFilter& filter,
                              const Page& page) override;
  std::uint64_t count(const ResultFilter& filter) override;
  std::vector<Result> rejected_results(RunKey run, const Page& page) override;

  // The primary key is (run, seq), so pages and the last record are ranges of
  // it. One trigger counts host shares.
  void append_ledger(RunKey run, const LedgerEntry& entry,
                     const LedgerRecord& record) override;
  std::vector<LedgerRecord> ledger(RunKey run, std::uint64_t from_seq,
                                   std::uint64_t limit) override;
  std::optional<LedgerRecord> ledger_record_of(ResultId result) override;
  std::optional<LedgerRecord> last_record(RunKey run) override;
  std::optional<LedgerRecord> last_snapshot_record(RunKey run) override;

  void insert_evaluation(const Evaluation& evaluation) override;
  std::vector<Evaluation> evaluations(RunKey run) override;

  void append_order(const OrderRecord& record) override;
  std::vector<OrderRecord> orders(std::uint64_t from_seq,
                                  std::uint64_t limit) override;
  std::optional<OrderRecord> last_order() override;
  // SQLite keeps it apart from the rows.
  std::uint64_t orders_made() override;

  // A page goes down the primary key.
  void insert_events(std::span<const Event> events) override;
  std::vector<Event> events(const Page& page) override;

 private:
  // The connection, for a change; what waits is written before. A change
  // outside a transaction is a bug: it would be durable on its own, and half of
  // a batch could be.
  SqliteConnection& changing();
  // The same, for what refers to no result and no cursor: leaves waiting what
  // waits.
  SqliteConnection& changing_apart();
  // The connection, for a look; what waits is written before, so that a look
  // sees the transaction's own changes.
  SqliteConnection& reading();
  // Throws and remembers the failure; see begin().
  void write_waiting();
  void write_each_waiting();

  // Owns file and statements.
  SqliteConnection connection_;
  // Of this transaction, not yet in their tables: a result is often made, sent
  // and judged in one, and a run's cursor moves with each unit.
  // is_new: to be inserted, else updated.
  struct WaitingResult {
    Result result;
    bool is_new = false;
  };
  std::map<ResultId, WaitingResult> waiting_results_;
  // By key, so that of several changes the last is written.
  std::map<RunKey, RunCursor> waiting_cursors_;
  std::map<std::pair<RunKey, std::uint32_t>, ShardProgress> waiting_progress_;
  ResultId next_result_ = 0;  // 0: not yet known in this transaction
  // Cleared by rollback().
  std::optional<Error> failure_;  // of writing what waits
};

}  // namespace quorate
