// Every durable change of the project, batch-shaped: operations take and return
// many rows, so that a store can serve a batch of requests with few statements.
// The seam is the batch and not the row because a row-level layer costs a
// client-server database most of its speed. Two implementations keep one
// contract (tests/server/store/store_contract.h): SQLite's, which the server
// uses, and one in memory for simulations and tests.
//
// One thread uses a Store. Changes are made between begin() and commit();
// commit() returns when they are durable. A process that dies in between has
// changed nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "workunits/boinc_rows.h"
#include "workunits/ledger/ledger.h"
#include "workunits/peer_rows.h"
#include "workunits/workunit.h"

namespace quorate {

// Counts and sums for status displays, by SQL rather than by reading rows.
struct RunTotals {
  std::uint64_t results_assimilated = 0;
  std::uint64_t results_rejected = 0;
  std::uint64_t results_valid = 0;
  std::uint64_t units_made = 0;
  std::uint64_t units_closed = 0;
  std::uint64_t samples = 0;  // of assimilated workunits
  std::uint64_t results_revoked = 0;
};

// What of a host's work is part of a run's model.
struct HostShare {
  RunKey run = 0;
  std::uint64_t results = 0;        // valid ones of assimilated workunits
  std::uint64_t first_version = 0;  // that one of them is part of
  std::uint64_t last_version = 0;
};

// What volunteers get of a workunit: its task and the project's seal.
struct SealedTask {
  WorkunitId workunit = 0;
  Bytes bytes;
};

// A page of rows for tables: newest first.
struct Page {
  std::uint64_t limit = 100;
  std::int64_t before_id = INT64_MAX;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;

  // Inserts return the new ids in order. Updates replace whole rows by id, but
  // for what a unit or a result is made with: its run, object, workunit.
  virtual UserId insert_user(const User& user) = 0;
  virtual void update_users(std::span<const User> users) = 0;
  virtual std::optional<User> user_by_key(const PublicKey& key) = 0;
  virtual std::optional<User> user(UserId id) = 0;
  virtual std::vector<User> users() = 0;

  virtual HostId insert_host(const Host& host) = 0;
  virtual void update_hosts(std::span<const Host> hosts) = 0;
  virtual std::optional<Host> host_by_key(const PublicKey& key) = 0;
  virtual std::vector<Host> hosts() = 0;
  virtual void replace_device_records(
      std::span<const DeviceRecord> records) = 0;
  virtual std::vector<DeviceRecord> device_records() = 0;
  virtual std::vector<HostShare> shares_of(HostId host) = 0;  // by run

  // Throws corrupt for an e-mail address that an account has already.
  virtual void insert_boinc_account(const BoincAccount& account) = 0;
  virtual std::vector<BoincAccount> boinc_accounts() = 0;
  virtual void replace_boinc_hosts(std::span<const BoincHost> hosts) = 0;
  virtual std::vector<BoincHost> boinc_hosts() = 0;

  virtual PeerId insert_peer(const Peer& peer) = 0;
  virtual void update_peer(const Peer& peer) = 0;
  virtual void remove_peer(PeerId id) = 0;  // may be gone already
  virtual std::vector<Peer> peers() = 0;
  // By fingerprint.
  virtual void replace_allowed_peer(const AllowedPeer& peer) = 0;
  virtual void remove_allowed_peer(const std::string& fingerprint) = 0;
  virtual std::vector<AllowedPeer> allowed_peers() = 0;

  virtual RunKey insert_run(const Run& run, const RunCursor& cursor) = 0;
  virtual void update_run(const Run& run) = 0;
  virtual void update_cursor(RunKey run, const RunCursor& cursor) = 0;
  virtual std::vector<Run> runs() = 0;
  virtual RunCursor cursor(RunKey run) = 0;
  // One row for each run and place.
  virtual void replace_shard_progress(const ShardProgress& progress) = 0;
  virtual std::vector<ShardProgress> shard_progress(RunKey run,
                                                    std::uint32_t epoch) = 0;
  virtual RunTotals totals(RunKey run) = 0;

  virtual std::vector<WorkunitId> insert_workunits(
      std::span<const Workunit> workunits) = 0;
  virtual void update_workunits(std::span<const Workunit> workunits) = 0;
  // Those that still need a decision: open, validated and not assimilated, or
  // in any state with a result in progress.
  virtual std::vector<Workunit> live_workunits() = 0;
  virtual std::optional<Workunit> workunit(WorkunitId id) = 0;
  virtual std::vector<Workunit> workunits(RunKey run, const Page& page) = 0;

  // Assimilated ones of a run that are to be rechecked, or to be revoked.
  virtual std::vector<Workunit> workunits_to_check(RunKey run) = 0;
  // Assimilated ones of a run with a valid result of this host, but for what is
  // to be revoked or was; unchecked: only those that no house worker has
  // vouched for.
  virtual std::vector<Workunit> workunits_with(RunKey run, HostId host,
                                               bool unchecked) = 0;

  virtual void insert_sealed_tasks(std::span<const SealedTask> tasks) = 0;
  // Of the workunit with this `object`, if there is one.
  virtual std::optional<Bytes> sealed_task(const Hash& object) = 0;

  virtual std::vector<ResultId> insert_results(
      std::span<const Result> results) = 0;
  virtual void update_results(std::span<const Result> results) = 0;
  // Of these workunits, in order of id.
  virtual std::vector<Result> results_of(
      std::span<const WorkunitId> workunits) = 0;
  virtual std::optional<Result> result(ResultId id) = 0;
  virtual std::vector<Result> results(RunKey run, const Page& page) = 0;
  // Rejected ones (validate_state invalid), newest first.
  virtual std::vector<Result> rejected_results(RunKey run,
                                               const Page& page) = 0;

  // The next record of the run's ledger, and the entry that it is of.
  virtual void append_ledger(RunKey run, const LedgerEntry& entry,
                             const LedgerRecord& record) = 0;
  virtual std::vector<LedgerRecord> ledger(RunKey run, std::uint64_t from_seq,
                                           std::uint64_t limit) = 0;
  // The last record, and the last that is a snapshot or the run's creation.
  virtual std::optional<LedgerRecord> last_record(RunKey run) = 0;
  virtual std::optional<LedgerRecord> last_snapshot_record(RunKey run) = 0;

  virtual void insert_evaluation(const Evaluation& evaluation) = 0;
  virtual std::vector<Evaluation> evaluations(RunKey run) = 0;  // by version

  virtual void insert_events(std::span<const Event> events) = 0;
  virtual std::vector<Event> events(const Page& page) = 0;  // newest first
};

// Opens the store at `path`, creating or migrating it; ":memory:" is an SQLite
// store in memory, for tests. Throws io when the file cannot be opened,
// unsupported when it was written by a newer version.
std::unique_ptr<Store> open_sqlite_store(const fs::path& path);

// What a store in memory keeps at most, so that a long simulation fits: at each
// commit the oldest beyond go. Sums (totals, shares) and all that is still to
// be decided, rechecked or revoked stay. What went is answered as if it had
// never been, so that:
// - a host that still reports or holds a result of such a unit is told that it
//   was not sent to it, or to stop it;
// - work of a host that proves false is not found any more (workunits_with),
//   nor rechecked or revoked;
// - a run's ledger cannot be replayed, exported or audited, and a process that
//   starts anew on the store cannot go on with the run.
struct MemoryStoreOptions {
  static constexpr std::uint64_t kAll = UINT64_MAX;

  // Workunits that are over, with their results and sealed tasks.
  std::uint64_t closed_units = kAll;
  // Of each run. The last, and the last that is a snapshot, stay in any case.
  std::uint64_t ledger_records = kAll;
  std::uint64_t events = kAll;
};
// Nothing of it outlives the store.
std::unique_ptr<Store> open_memory_store(
    const MemoryStoreOptions& options = {});

// Copies the store as it is at one moment to a new file, durably; others may
// write to it meanwhile. progress: what is done, of how much. Throws io,
// unavailable, or corrupt if its content is damaged.
void copy_sqlite_store(
    const fs::path& from, const fs::path& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace quorate
