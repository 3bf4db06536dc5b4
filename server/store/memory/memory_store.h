// The store of a simulation and of tests: in memory, gone with the process. It
// answers what the SQLite store answers and refuses what it refuses; both keep
// one contract, and so this header is longer than others. Rows are copied
// whole: a new member of a row needs nothing here.
//
// Look-ups by id take constant time, by key a hash, changes as long as their
// undo steps. A page of one run passes over the rows of all others: quick with
// few runs that go on at one time, as in a simulation. For the meaning of the
// functions see server/store/store.h; sources: memory_store.cpp (runs, events),
// people.cpp, work.cpp, ledger.cpp. Longer than other headers for the same
// reason.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/store/memory/memory_rows.h"
#include "server/store/memory/rows.h"
#include "server/store/memory/undo_log.h"
#include "server/store/store.h"

namespace quorate {

class MemoryStore final : public Store {
 public:
  // options: what is dropped at each commit; by default nothing is.
  explicit MemoryStore(const MemoryStoreOptions& options);

  // None of these moves a row: rollback() runs the undo steps backwards.
  void begin() override;
  // Forgets the undo steps, then drops what is over and beyond the options.
  void commit() override;
  void rollback() override;

  // People: a hash look-up by key, a page of all in order of id.
  UserId insert_user(const User& user) override;
  void update_users(std::span<const User> users) override;
  std::optional<User> user_by_key(const PublicKey& key) override;
  // Row 1 is the house's, which the constructor makes, as a new SQLite file has
  // it.
  std::optional<User> user(UserId id) override;
  std::vector<User> users() override;
  void forget_user(UserId id) override;

  HostId insert_host(const Host& host) override;
  void update_hosts(std::span<const Host> hosts) override;
  std::optional<Host> host_by_key(const PublicKey& key) override;
  std::vector<Host> hosts() override;
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

  // Runs are few: inserting one compares it with all others.
  RunKey insert_run(const Run& run, const RunCursor& cursor) override;
  void update_run(const Run& run) override;
  void update_cursor(RunKey run, const RunCursor& cursor) override;
  std::vector<Run> runs() override;
  RunCursor cursor(RunKey run) override;
  void replace_shard_progress(const ShardProgress& progress) override;
  std::vector<ShardProgress> shard_progress(RunKey run,
                                            std::uint32_t epoch) override;
  RunTotals totals(RunKey run) override;

  // Units: live_workunits() passes over all that are kept.
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
  // By the host's valid results, however many those are.
  std::vector<Workunit> workunits_with(RunKey run, HostId host,
                                       bool unchecked) override;
  void insert_sealed_tasks(std::span<const SealedTask> tasks) override;
  std::optional<Bytes> sealed_task(const Hash& object) override;

  std::vector<ResultId> insert_results(
      std::span<const Result> results) override;
  void update_results(std::span<const Result> results) override;
  // One look-up for each unit; no pass over other rows.
  std::vector<Result> results_of(
      std::span<const WorkunitId> workunits) override;
  std::optional<Result> result(ResultId id) override;
  std::vector<Result> results(const ResultFilter& filter,
                              const Page& page) override;
  std::uint64_t count(const ResultFilter& filter) override;
  // Down the run's set of rejected ids, so as many steps as rows are given.
  std::vector<Result> rejected_results(RunKey run, const Page& page) override;

  // A ledger's record takes time for each result of its unit, by whose hosts
  // the shares are counted.
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
  std::uint64_t orders_made() override { return orders_.size(); }

  // The oldest go first when there are more than options_.events.
  void insert_events(std::span<const Event> events) override;
  std::vector<Event> events(const Page& page) override;

 private:
  struct FirstBytes {  // of a key, which are random
    std::size_t operator()(const PublicKey& key) const;
  };
  using Keys = std::unordered_map<PublicKey, std::int64_t, FirstBytes>;

  // To be called by every change: one outside a transaction is a bug and
  // aborts. Returns the log that the change must go through.
  UndoLog& changing();
  // Adds a row with an undo step.
  template <class Row>
  Row& add(Rows<Row>& to, Row row) {
    undo_.add([&to] { to.remove_last(); });
    return to.add(std::move(row));
  }
  // Keys are unique: these refuse one that another has, and change the index.
  void take_key(Keys& keys, const PublicKey& key, std::int64_t id);
  void change_key(Keys& keys, const PublicKey& from, const PublicKey& to,
                  std::int64_t id);

  // Rows that others refer to: these throw corrupt if there is none. Where 0
  // may stand for none, it is accepted.
  MemoryRun& run_of(RunKey run);
  MemoryHost& host_of(HostId host);
  MemoryUnit& unit_of(WorkunitId unit);
  void expect_user(UserId user);
  void expect_holder(const Result& result);
  void expect_canonical(const Workunit& unit);

  // What is found by a unit or a result, and counted of it. follow() compares
  // two states of a result and moves totals, rejected and valid along;
  // take_in() and share() belong to a ledger entry.
  void list(MemoryRun& run, const Workunit& unit);
  void follow(const Result& old, const Result& now);
  void take_in(ResultId result);
  void share(const ResultAssimilated& entry, RunKey run);
  void withdraw_share(const Result& result);

  // is_live: as live_workunits() has it. may_be_dropped: not live, nothing to
  // be checked, not revoked, not unverified.
  bool is_live(const MemoryUnit& unit);
  bool may_be_dropped(const MemoryUnit& unit);
  bool is_wanted(const WorkunitFilter& filter, const MemoryUnit& unit);
  void drop_closed();
  void drop(WorkunitId id);

  MemoryStoreOptions options_;
  // Like SQLite's: one transaction at a time, and none within another.
  bool in_transaction_ = false;
  UndoLog undo_;

  Rows<User> users_;
  Keys user_keys_;
  std::map<UserId, BoincAccount> accounts_;
  std::set<std::string> emails_;
  Rows<MemoryHost> hosts_;
  Keys host_keys_;

  std::map<PeerId, Peer> peers_;
  PeerId last_peer_ = 0;
  std::map<std::string, AllowedPeer> allowed_peers_;

  Rows<MemoryRun> runs_;
  Rows<MemoryUnit> units_;
  Rows<Result> results_;
  std::unordered_map<Hash, Bytes> sealed_;  // by the unit's object
  std::vector<bool> in_ledger_;             // by result
  std::vector<OrderRecord> orders_;
  std::deque<Event> events_;
  std::int64_t next_event_ = 1;

  // Units whose results changed, and units that were found to be over: the
  // latter wait here until there are more than options_.closed_units.
  std::vector<WorkunitId> touched_;  // by this transaction
  std::deque<WorkunitId> closed_;    // the oldest first
};

}  // namespace quorate
