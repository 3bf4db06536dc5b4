// Every durable change of the project, batch-shaped: operations take and return
// many rows, so that a store can serve a batch of requests with few statements.
// Longer than other headers, because it is the whole contract that two
// implementations keep (tests/server/store/store_contract.h): SQLite's, which
// the server uses, and one in memory for simulations and tests.
//
// The room server/store knows rows (workunits/) and nothing of the server's
// decisions; its rooms memory/ and sqlite/ implement this header, and
// nobody else includes them. It owns the database and its file. Memory that the
// server builds from it (ProjectState) is a cache.
//
// The seam is the batch and not the row because a row-level layer costs a
// client-server database most of its speed.
//
// One thread uses a Store: the writer's, or the one thread of a command.
// Changes are made between begin() and commit(); commit() returns when they are
// durable. A process that dies in between has changed nothing. A change outside
// a transaction is a bug and aborts; reading is allowed at any time and sees
// the transaction's own changes.
//
// Every call may throw: corrupt if a change contradicts what is stored (an id
// or key that refers to nothing, a key that is taken), unavailable if another
// program holds the file, io if disk or file fail. After an error within a
// transaction, roll back: some of the batch may be in it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "server/store/filters.h"
#include "workunits/boinc_rows.h"
#include "workunits/ledger/ledger.h"
#include "workunits/ledger/order_log.h"
#include "workunits/peer_rows.h"
#include "workunits/workunit.h"

namespace quorate {

// Counts and sums for status displays, kept with each change rather than
// counted when asked: the page asks every second.
struct RunTotals {
  std::uint64_t results_assimilated = 0;
  // By verdict: by screening, by a quorum, or later by a recheck.
  std::uint64_t results_rejected = 0;
  std::uint64_t results_valid = 0;
  std::uint64_t units_made = 0;
  // In any state that is final.
  std::uint64_t units_closed = 0;
  std::uint64_t samples = 0;  // of assimilated workunits
  // Units, in truth: those whose update was taken out of the model.
  std::uint64_t results_revoked = 0;
};

// What of a host's work is part of a run's model. Kept with each ledger entry;
// a result that is found false later is taken off again.
struct HostShare {
  RunKey run = 0;
  std::uint64_t results = 0;  // valid ones of assimilated workunits
  // Versions count as in the ledger; an update is part of the version after the
  // one that it was merged into. Both stay when a result is taken off.
  std::uint64_t first_version = 0;  // that one of them is part of
  std::uint64_t last_version = 0;
};

// What volunteers get of a workunit: its task and the project's seal. The hash
// of the bytes is Workunit::object.
struct SealedTask {
  WorkunitId workunit = 0;
  Bytes bytes;
};

// A page of rows for tables: at most `limit` of those with an id below
// before_id, newest first. The next page begins before the last id of this one.
struct Page {
  std::uint64_t limit = 100;
  std::int64_t before_id = INT64_MAX;
};

class Store {
 public:
  virtual ~Store() = default;

  // begin() takes the right to write at once, so that no later change of the
  // transaction fails for want of it; transactions do not nest. rollback()
  // undoes all since begin(), also after a failure, and may be called when
  // there is no transaction.
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;

  // Inserts ignore the row's id and return the new one; ids count up from 1 and
  // are never given to another row (unless the insert was rolled back). Updates
  // replace whole rows by id and throw corrupt for an unknown id. A "replace"
  // inserts the row or takes the place of the one with the same key. Lists are
  // in order of id unless they say otherwise, and look-ups give nullopt for
  // what is not there.
  //
  // Users. Two of them never have the same key. User kHouseUser is there from
  // the start.
  virtual UserId insert_user(const User& user) = 0;
  virtual void update_users(std::span<const User> users) = 0;
  // By key or id; the list has every user, the house's first.
  virtual std::optional<User> user_by_key(const PublicKey& key) = 0;
  virtual std::optional<User> user(UserId id) = 0;
  virtual std::vector<User> users() = 0;
  // Removes what rows beside users and hosts know of the person: the BOINC
  // account and what its hosts' clients said of themselves, the texts of events
  // of its hosts that name one ("host_...", "result_failed"), and its hosts'
  // words about results that failed. Passes over all events and results.
  virtual void forget_user(UserId id) = 0;

  // Hosts belong to a user, who must exist; two never have the same key.
  virtual HostId insert_host(const Host& host) = 0;
  virtual void update_hosts(std::span<const Host> hosts) = 0;
  virtual std::optional<Host> host_by_key(const PublicKey& key) = 0;
  virtual std::vector<Host> hosts() = 0;
  // Trust of a host's devices, by host, device and arithmetic version.
  virtual void replace_device_records(
      std::span<const DeviceRecord> records) = 0;
  virtual std::vector<DeviceRecord> device_records() = 0;
  // One for each run that has something of the host in its model, by run.
  virtual std::vector<HostShare> shares_of(HostId host) = 0;  // by run

  // One account per user. Throws corrupt for an e-mail address that an account
  // has already; empty ones do not count.
  virtual void insert_boinc_account(const BoincAccount& account) = 0;
  // All of them, by user: the BOINC door finds one in its own memory.
  virtual std::vector<BoincAccount> boinc_accounts() = 0;
  // What is known of a host's stock client; by host.
  virtual void replace_boinc_hosts(std::span<const BoincHost> hosts) = 0;
  virtual std::vector<BoincHost> boinc_hosts() = 0;

  // Runs of other projects, whose models a run of ours takes.
  virtual PeerId insert_peer(const Peer& peer) = 0;
  virtual void update_peer(const Peer& peer) = 0;
  virtual void remove_peer(PeerId id) = 0;  // may be gone already
  virtual std::vector<Peer> peers() = 0;
  // Projects that may take ours; by fingerprint, also the list.
  virtual void replace_allowed_peer(const AllowedPeer& peer) = 0;
  virtual void remove_allowed_peer(const std::string& fingerprint) = 0;
  virtual std::vector<AllowedPeer> allowed_peers() = 0;

  // Runs, each with its cursor. Two never have the same RunId.
  virtual RunKey insert_run(const Run& run, const RunCursor& cursor) = 0;
  virtual void update_run(const Run& run) = 0;
  // Where the run's work generator stands. Changed with every unit, in the
  // transaction that makes it: so no sample is handed out twice or lost.
  virtual void update_cursor(RunKey run, const RunCursor& cursor) = 0;
  // All runs, also those that are over.
  virtual std::vector<Run> runs() = 0;
  virtual RunCursor cursor(RunKey run) = 0;
  // One row for each run and place; rows of earlier epochs stay until their
  // place is begun again, and are not given for the later epoch.
  virtual void replace_shard_progress(const ShardProgress& progress) = 0;
  virtual std::vector<ShardProgress> shard_progress(RunKey run,
                                                    std::uint32_t epoch) = 0;
  // Zeros for an unknown run. Constant time.
  virtual RunTotals totals(RunKey run) = 0;

  // Workunits. Updates keep `run` and `object` as they were inserted.
  virtual std::vector<WorkunitId> insert_workunits(
      std::span<const Workunit> workunits) = 0;
  // Throws corrupt if the canonical result is no result.
  virtual void update_workunits(std::span<const Workunit> workunits) = 0;
  // Those that still need a decision, of all runs: open, validated and not
  // assimilated, or in any state with a result in progress. Asked once, at the
  // start; the feeder has them from then on.
  virtual std::vector<Workunit> live_workunits() = 0;
  // One, in whatever state.
  virtual std::optional<Workunit> workunit(WorkunitId id) = 0;
  // A page of those that match, and how many match in all. Both pass over all
  // rows that are newer than the last one found: for people, not for every
  // request.
  virtual std::vector<Workunit> workunits(const WorkunitFilter& filter,
                                          const Page& page) = 0;
  virtual std::uint64_t count(const WorkunitFilter& filter) = 0;

  // Those of a run that are to be rechecked or to be revoked: assimilated ones,
  // and validated ones that wait for the end of their round.
  virtual std::vector<Workunit> workunits_to_check(RunKey run) = 0;
  // Those of a run that are in the model although nobody recomputed them.
  virtual std::vector<Workunit> workunits_unverified(RunKey run) = 0;
  // Assimilated ones of a run with a valid result of this host, but for those
  // that are to be rechecked or revoked, or were revoked. unchecked: only those
  // that no house worker has vouched for.
  virtual std::vector<Workunit> workunits_with(RunKey run, HostId host,
                                               bool unchecked) = 0;

  // One for each workunit, which must exist; corrupt for a second.
  virtual void insert_sealed_tasks(std::span<const SealedTask> tasks) = 0;
  // Of the workunit with this `object`, if there is one.
  virtual std::optional<Bytes> sealed_task(const Hash& object) = 0;

  // Results. Updates keep `workunit` and `run`; host and user, where they are
  // set, must exist.
  virtual std::vector<ResultId> insert_results(
      std::span<const Result> results) = 0;
  virtual void update_results(std::span<const Result> results) = 0;
  // Of these workunits, in order of id; unknown workunits have none.
  virtual std::vector<Result> results_of(
      std::span<const WorkunitId> workunits) = 0;
  // One, live or not: for a host that reports late.
  virtual std::optional<Result> result(ResultId id) = 0;
  // As workunits() and its count.
  virtual std::vector<Result> results(const ResultFilter& filter,
                                      const Page& page) = 0;
  virtual std::uint64_t count(const ResultFilter& filter) = 0;
  // Rejected ones (validate_state invalid), newest first.
  virtual std::vector<Result> rejected_results(RunKey run,
                                               const Page& page) = 0;

  // The next record of the run's ledger, and the entry it was made of. Throws
  // corrupt unless it follows the last one (server/store/ledger_order), or if
  // the result that it takes in is in a ledger already: no result can change a
  // model twice. Records are never changed or removed. Host shares follow.
  virtual void append_ledger(RunKey run, const LedgerEntry& entry,
                             const LedgerRecord& record) = 0;
  // At most `limit` records from from_seq on, in order; empty beyond the end.
  virtual std::vector<LedgerRecord> ledger(RunKey run, std::uint64_t from_seq,
                                           std::uint64_t limit) = 0;
  // The record that took this result into its run's model, if one did.
  virtual std::optional<LedgerRecord> ledger_record_of(ResultId result) = 0;
  // The last record, and the last that is a snapshot or the run's creation.
  virtual std::optional<LedgerRecord> last_record(RunKey run) = 0;
  virtual std::optional<LedgerRecord> last_snapshot_record(RunKey run) = 0;

  // By run and version; takes the place of an earlier one of the same version
  // (a server that died asks for it again).
  virtual void insert_evaluation(const Evaluation& evaluation) = 0;
  virtual std::vector<Evaluation> evaluations(RunKey run) = 0;  // by version

  // What operators ordered, by seq from 1 on. Throws corrupt for a seq that is
  // taken. Records are never changed or removed.
  virtual void append_order(const OrderRecord& record) = 0;
  virtual std::vector<OrderRecord> orders(std::uint64_t from_seq,
                                          std::uint64_t limit) = 0;
  virtual std::optional<OrderRecord> last_order() = 0;
  // The greatest seq that there ever was: that of the last record, unless
  // somebody removed it from the file.
  virtual std::uint64_t orders_made() = 0;

  // Events only ever grow; run and host must exist where they are set.
  virtual void insert_events(std::span<const Event> events) = 0;
  virtual std::vector<Event> events(const Page& page) = 0;  // newest first
};

// Opens the store at `path`, creating or migrating it; ":memory:" is an SQLite
// store in memory, for tests. A migration is one transaction. Throws io when
// the file cannot be opened, unsupported when it was written by a newer
// version; then it is unchanged.
std::unique_ptr<Store> open_sqlite_store(const fs::path& path);

// What a store in memory keeps at most, so that a long simulation fits: at each
// commit the oldest beyond go. Sums (totals, shares) and all that is still to
// be decided, rechecked or revoked, or is unverified, stay. What went is
// answered as if it had never been, so that:
// - a host that still reports or holds a result of such a unit is told that it
//   was not sent to it, or to stop it;
// - work of a host that proves false is not found any more (workunits_with),
//   nor rechecked or revoked;
// - a run's ledger cannot be replayed, exported or audited, and a process that
//   starts anew on the store cannot go on with the run.
// Only for runs that nobody will look back at: the simulator's.
struct MemoryStoreOptions {
  static constexpr std::uint64_t kAll = UINT64_MAX;

  // Workunits that are over, with their results and sealed tasks.
  std::uint64_t closed_units = kAll;
  // Of each run. The last, and the last that is a snapshot, stay in any case.
  std::uint64_t ledger_records = kAll;
  std::uint64_t events = kAll;
};
// An empty store. Nothing of it outlives it.
std::unique_ptr<Store> open_memory_store(
    const MemoryStoreOptions& options = {});

// Copies the store as it is at one moment to a new file, durably; others may
// write to it meanwhile. Any thread or process: it opens the file on its own.
// progress(pages done, pages): called every few MB. Throws io if reading or
// writing fails (a half-made copy stays), corrupt if the content is damaged.
void copy_sqlite_store(
    const fs::path& from, const fs::path& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace quorate
