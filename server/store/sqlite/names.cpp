#include "server/store/names.h"

#include <variant>

#include "server/store/sqlite/rows.h"
#include "server/store/sqlite/schema.h"
#include "workunits/ledger/ledger.h"

namespace quorate {
namespace {

// Numbers of states: see schema.cpp.
static_assert(static_cast<int>(RunState::running) == 0);
static_assert(static_cast<int>(RunState::paused) == 1);
static_assert(static_cast<int>(UnitCheck::revoked) == 5);

constexpr const char* kLiveUnits =
    "(SELECT id FROM workunits WHERE state IN (0, 1) UNION "
    "SELECT workunit FROM results WHERE server_state = 4)";

class SqliteNames final : public StoreNames {
 public:
  explicit SqliteNames(const fs::path& path) : connection_(path) {
    expect_newest(connection_);
    connection_.execute("BEGIN");
    connection_.integer("SELECT count(*) FROM sqlite_schema");  // begins it
  }

  std::vector<Run> runs() override {
    return select<Run>(connection_, "ORDER BY id");
  }

  void names(const std::function<void(const ObjectName&)>& see) override {
    name_ledger(see);
    name_peers(see);
    name_payloads(see);
    name_live_units(see);
    name_later_bases(see);
    name_old_tasks(see);
  }

  std::vector<TaskTotals> task_totals() override {
    Query query = connection_.query(
        "SELECT workunits.run, count(*), sum(length(bytes)) FROM sealed_tasks "
        "JOIN workunits ON workunits.id = workunit GROUP BY workunits.run");
    std::vector<TaskTotals> all;
    while (query.next()) {
      TaskTotals& one = all.emplace_back();
      get(query, one.run);
      get(query, one.count);
      get(query, one.bytes);
    }
    return all;
  }

 private:
  using See = std::function<void(const ObjectName&)>;

  // Reads the next row's columns as name.run and a hash for each of the kinds,
  // and shows those that are set.
  static void show(Query& query, ObjectName name,
                   std::initializer_list<NameKind> kinds, const See& see) {
    get(query, name.run);
    for (NameKind kind : kinds) {
      name.kind = kind;
      get(query, name.hash);
      if (!name.hash.is_zero()) see(name);
    }
  }

  // Entries about results are known by their results. A revocation and the end
  // name what the snapshot beside them does.
  void name_ledger(const See& see) {
    Query query = connection_.query(
        "SELECT run, line FROM ledger WHERE kind IN ('run', 'snapshot')");
    while (query.next()) {
      ObjectName name;
      get(query, name.run);
      auto show = [&](NameKind kind, const Hash& hash) {
        name.kind = kind;
        name.hash = hash;
        if (!hash.is_zero()) see(name);
      };
      const LedgerEntry entry = parse_entry(query.text());
      if (const auto* run = std::get_if<RunCreated>(&entry.body)) {
        show(NameKind::snapshot, run->initial);
        for (const Hash& shard : run->shards) show(NameKind::shard, shard);
      } else {
        const auto& at = std::get<SnapshotPublished>(entry.body);
        show(NameKind::snapshot, at.parameters);
        show(NameKind::snapshot, at.published);
        show(NameKind::snapshot, at.rule_state);
      }
    }
  }

  // A replay needs the models of peers, and who said that they were.
  void name_peers(const See& see) {
    Query query =
        connection_.query("SELECT run, line FROM ledger WHERE kind = 'peer'");
    while (query.next()) {
      ObjectName name;
      get(query, name.run);
      name.kind = NameKind::snapshot;
      const LedgerEntry entry = parse_entry(query.text());
      const auto& mixed = std::get<PeerMixed>(entry.body);
      for (const Hash& hash : {mixed.parameters, mixed.offer}) {
        name.hash = hash;
        see(name);
      }
    }
  }

  void name_payloads(const See& see) {
    Query query = connection_.query(fmt::format(
        "SELECT ledger.result IS NOT NULL, results.workunit IN {}, "
        "workunits.check_state = 5, results.host, results.run, "
        "results.update_hash "
        "FROM results JOIN workunits ON workunits.id = results.workunit "
        "LEFT JOIN ledger ON ledger.result = results.id",
        kLiveUnits));
    while (query.next()) {
      ObjectName name;
      const bool is_recorded = query.integer() != 0;
      name.is_live = query.integer() != 0;
      name.is_revoked = query.integer() != 0;
      get(query, name.host);
      show(query, name, {is_recorded ? NameKind::update : NameKind::payload},
           see);
    }
  }

  void name_live_units(const See& see) {
    Query query = connection_.query(
        fmt::format("SELECT run, snapshot, shard FROM workunits WHERE id IN {}",
                    kLiveUnits));
    ObjectName name;
    name.is_live = true;
    while (query.next()) {
      show(query, name, {NameKind::snapshot, NameKind::shard}, see);
    }
  }

  // A restart begins at the last snapshot entry and applies the later results
  // to it, some of them with the base of their unit.
  void name_later_bases(const See& see) {
    Query query = connection_.query(
        "SELECT runs.id, workunits.snapshot FROM runs CROSS JOIN ledger "
        "ON ledger.run = runs.id AND ledger.seq > (SELECT max(seq) FROM "
        "ledger WHERE run = runs.id AND kind IN ('run', 'snapshot')) "
        "JOIN results ON results.id = ledger.result "
        "JOIN workunits ON workunits.id = results.workunit "
        "WHERE runs.state IN (0, 1)");
    while (query.next()) show(query, {}, {NameKind::snapshot}, see);
  }

  void name_old_tasks(const See& see) {
    Query query = connection_.query(
        "SELECT run, object FROM workunits WHERE id < "
        "ifnull((SELECT min(workunit) FROM sealed_tasks), 1 << 62)");
    while (query.next()) show(query, {}, {NameKind::task}, see);
  }

  SqliteConnection connection_;
};

}  // namespace

std::unique_ptr<StoreNames> read_sqlite_names(const fs::path& path) {
  return std::make_unique<SqliteNames>(path);
}

}  // namespace quorate
