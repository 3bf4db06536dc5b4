// Longer than other files: it has every step that stores in the field have gone
// through.
#include "server/store/sqlite/schema.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/workunit.h"

namespace quorate {
namespace {

// States stand as numbers in the indexes and triggers below, and an index is
// only used by a query with the same numbers.
static_assert(static_cast<int>(WorkunitState::open) == 0);
static_assert(static_cast<int>(WorkunitState::validated) == 1);
static_assert(static_cast<int>(WorkunitState::assimilated) == 2);
static_assert(static_cast<int>(WorkunitState::failed) == 6);
static_assert(static_cast<int>(ServerState::in_progress) == 4);
static_assert(static_cast<int>(ValidateState::valid) == 1);
static_assert(static_cast<int>(ValidateState::invalid) == 2);
static_assert(static_cast<int>(Codec::fp32) == 0);
static_assert(static_cast<int>(Consistency::strong) == 0);
static_assert(kHouseUser == 1);

constexpr const char* kFirstSchema = R"sql(
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  public_key BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  credit REAL NOT NULL,
  created INTEGER NOT NULL
) STRICT;
INSERT INTO users VALUES (1, zeroblob(32), 'house workers', 0,
                          CAST(strftime('%s', 'now') AS INTEGER) * 1000);

CREATE TABLE hosts (
  id INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users,
  public_key BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  door TEXT NOT NULL,
  device TEXT NOT NULL,
  platform TEXT NOT NULL,
  speed_flops REAL NOT NULL,
  valid INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  credit REAL NOT NULL,
  created INTEGER NOT NULL,
  last_seen INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  run_id BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  state_reason TEXT NOT NULL,
  model TEXT NOT NULL,
  dataset TEXT NOT NULL,
  seed INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  local_steps INTEGER NOT NULL,
  epochs INTEGER NOT NULL,
  learning_rate REAL NOT NULL,
  momentum REAL NOT NULL,
  weight_decay REAL NOT NULL,
  lr_schedule TEXT NOT NULL,
  rule TEXT NOT NULL,
  rule_settings TEXT NOT NULL,
  quorum INTEGER NOT NULL,
  round_units INTEGER NOT NULL,
  round_share REAL NOT NULL,
  created INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  cursor_next_unit INTEGER NOT NULL DEFAULT 0,
  cursor_epoch INTEGER NOT NULL DEFAULT 0,
  cursor_shard_position INTEGER NOT NULL DEFAULT 0,
  cursor_step INTEGER NOT NULL DEFAULT 0,
  cursor_steps_before INTEGER NOT NULL DEFAULT 0,
  cursor_round INTEGER NOT NULL DEFAULT 0,
  cursor_round_made INTEGER NOT NULL DEFAULT 0,
  cursor_round_units INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE workunits (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  unit_index INTEGER NOT NULL,
  object BLOB NOT NULL,
  snapshot BLOB NOT NULL,
  shard BLOB NOT NULL,
  base_version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  operations REAL NOT NULL,
  min_quorum INTEGER NOT NULL,
  target_results INTEGER NOT NULL,
  max_error_results INTEGER NOT NULL,
  max_total_results INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
  canonical_result INTEGER REFERENCES results,
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX workunits_of_run ON workunits (run);
CREATE INDEX workunits_live ON workunits (state) WHERE state IN (0, 1);

CREATE TABLE results (
  id INTEGER PRIMARY KEY,
  workunit INTEGER NOT NULL REFERENCES workunits,
  run INTEGER NOT NULL REFERENCES runs,
  server_state INTEGER NOT NULL CHECK (server_state IN (2, 4, 5)),
  outcome INTEGER NOT NULL CHECK (outcome IN (0, 1, 3, 4, 5, 6)),
  validate_state INTEGER NOT NULL
      CHECK (validate_state IN (0, 1, 2, 4, 5, 6)),
  host INTEGER REFERENCES hosts,
  user INTEGER REFERENCES users,
  nonce BLOB NOT NULL,
  update_hash BLOB NOT NULL,
  claim_hash BLOB NOT NULL,
  computed INTEGER NOT NULL CHECK (computed IN (1, 2)),
  header BLOB NOT NULL,
  header_signature BLOB NOT NULL,
  credit REAL NOT NULL,
  reason TEXT NOT NULL,
  sent INTEGER NOT NULL,
  received INTEGER NOT NULL
) STRICT;
CREATE INDEX results_of_workunit ON results (workunit);
CREATE INDEX results_of_run ON results (run);
CREATE INDEX results_in_progress ON results (workunit) WHERE server_state = 4;
CREATE INDEX results_rejected ON results (run) WHERE validate_state = 2;
CREATE INDEX results_received ON results (received) WHERE received > 0;

-- Status displays ask for these twice a second: counting takes 10 ms at 50,000
-- workunits, and the writer would wait; keeping them costs a few microseconds
-- per change of state.
CREATE TABLE run_totals (
  run INTEGER PRIMARY KEY REFERENCES runs,
  results_assimilated INTEGER NOT NULL DEFAULT 0,
  results_rejected INTEGER NOT NULL DEFAULT 0,
  results_valid INTEGER NOT NULL DEFAULT 0,
  units_made INTEGER NOT NULL DEFAULT 0,
  units_closed INTEGER NOT NULL DEFAULT 0,
  samples INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER totals_of_run AFTER INSERT ON runs BEGIN
  INSERT INTO run_totals (run) VALUES (NEW.id);
END;
CREATE TRIGGER totals_of_new_workunit AFTER INSERT ON workunits BEGIN
  UPDATE run_totals SET
    units_made = units_made + 1,
    units_closed = units_closed + (NEW.state > 1),
    results_assimilated = results_assimilated + (NEW.state = 2),
    samples = samples + (NEW.state = 2) * NEW.samples
  WHERE run = NEW.run;
END;
CREATE TRIGGER totals_of_workunit AFTER UPDATE OF state ON workunits
WHEN OLD.state <> NEW.state BEGIN
  UPDATE run_totals SET
    units_closed = units_closed + (NEW.state > 1) - (OLD.state > 1),
    results_assimilated =
        results_assimilated + (NEW.state = 2) - (OLD.state = 2),
    samples = samples + (NEW.state = 2) * NEW.samples
                      - (OLD.state = 2) * OLD.samples
  WHERE run = NEW.run;
END;
CREATE TRIGGER totals_of_new_result AFTER INSERT ON results
WHEN NEW.validate_state IN (1, 2) BEGIN
  UPDATE run_totals SET
    results_valid = results_valid + (NEW.validate_state = 1),
    results_rejected = results_rejected + (NEW.validate_state = 2)
  WHERE run = NEW.run;
END;
CREATE TRIGGER totals_of_result AFTER UPDATE OF validate_state ON results
WHEN OLD.validate_state <> NEW.validate_state BEGIN
  UPDATE run_totals SET
    results_valid = results_valid + (NEW.validate_state = 1)
                                  - (OLD.validate_state = 1),
    results_rejected = results_rejected + (NEW.validate_state = 2)
                                        - (OLD.validate_state = 2)
  WHERE run = NEW.run;
END;

CREATE TABLE ledger (
  run INTEGER NOT NULL REFERENCES runs,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  line TEXT NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB NOT NULL,
  -- No result can change a model twice.
  result INTEGER UNIQUE REFERENCES results,
  PRIMARY KEY (run, seq),
  CHECK ((kind = 'result') = (result IS NOT NULL))
) STRICT;
CREATE INDEX ledger_snapshots ON ledger (run, seq)
    WHERE kind IN ('run', 'snapshot');

CREATE TABLE evaluations (
  run INTEGER NOT NULL REFERENCES runs,
  version INTEGER NOT NULL,
  published BLOB NOT NULL,
  time INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  loss REAL,  -- NULL: not a number
  accuracy REAL,
  PRIMARY KEY (run, version)
) STRICT;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  run INTEGER REFERENCES runs,
  host INTEGER REFERENCES hosts,
  text TEXT NOT NULL
) STRICT;
)sql";

// What a host's results became: counted with the ledger, for the volunteers
// ask for it and results have no index by host. An update is part of the
// version after the one that it was merged into; all valid results of its unit
// share in it.
constexpr const char* kHostShares = R"sql(
CREATE TABLE host_shares (
  host INTEGER NOT NULL REFERENCES hosts,
  run INTEGER NOT NULL REFERENCES runs,
  results INTEGER NOT NULL,
  first_version INTEGER NOT NULL,
  last_version INTEGER NOT NULL,
  PRIMARY KEY (host, run)
) STRICT, WITHOUT ROWID;
INSERT INTO host_shares
  SELECT valid.host, ledger.run, count(*),
         min(json_extract(ledger.line, '$.version_before')) + 1,
         max(json_extract(ledger.line, '$.version_before')) + 1
  FROM ledger
  JOIN results AS merged ON merged.id = ledger.result
  JOIN results AS valid ON valid.workunit = merged.workunit
  WHERE valid.validate_state = 1 AND valid.host IS NOT NULL
  GROUP BY valid.host, ledger.run;
CREATE TRIGGER shares_of_ledger AFTER INSERT ON ledger
WHEN NEW.kind = 'result' BEGIN
  INSERT INTO host_shares
    SELECT host, NEW.run, 1,
           json_extract(NEW.line, '$.version_before') + 1,
           json_extract(NEW.line, '$.version_before') + 1
    FROM results
    WHERE workunit = (SELECT workunit FROM results WHERE id = NEW.result)
      AND validate_state = 1 AND host IS NOT NULL
  ON CONFLICT (host, run) DO UPDATE SET
    results = results + 1, last_version = excluded.last_version;
END;
)sql";

// Sealed tasks were files among the objects before: a file and two syncs for
// each kilobyte were most of what a request for work cost.
constexpr const char* kSealedTasks = R"sql(
CREATE TABLE sealed_tasks (
  workunit INTEGER PRIMARY KEY REFERENCES workunits,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX workunits_by_object ON workunits (object);
)sql";

// Runs were all of plain SGD.
constexpr const char* kOptimizers = R"sql(
ALTER TABLE runs ADD COLUMN optimizer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN beta1 REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN beta2 REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN epsilon REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN clip_norm REAL NOT NULL DEFAULT 0;
)sql";

constexpr const char* kMicroBatches = R"sql(
ALTER TABLE runs ADD COLUMN micro_batch INTEGER NOT NULL DEFAULT 0;
)sql";

// Trust of hosts, and checks of units that had been taken in on trust.
constexpr const char* kTrust = R"sql(
ALTER TABLE hosts ADD COLUMN mark INTEGER NOT NULL DEFAULT 0
    CHECK (mark BETWEEN 0 AND 3);
ALTER TABLE hosts ADD COLUMN mark_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN false_results INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workunits ADD COLUMN check_state INTEGER NOT NULL DEFAULT 0
    CHECK (check_state BETWEEN 0 AND 5);
CREATE INDEX workunits_to_check ON workunits (run)
    WHERE check_state IN (2, 4);
-- What is revoked is no longer part of the model.
CREATE TRIGGER totals_of_revoked_workunit
AFTER UPDATE OF check_state ON workunits
WHEN OLD.check_state <> 5 AND NEW.check_state = 5 BEGIN
  UPDATE run_totals SET
    results_assimilated = results_assimilated - 1,
    results_revoked = results_revoked + 1,
    samples = samples - NEW.samples
  WHERE run = NEW.run;
END;
ALTER TABLE run_totals
    ADD COLUMN results_revoked INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER shares_of_withdrawn_result
AFTER UPDATE OF validate_state ON results
WHEN OLD.validate_state = 1 AND NEW.validate_state = 2 BEGIN
  UPDATE host_shares SET results = results - 1
  WHERE host = NEW.host AND run = NEW.run AND
        (SELECT state FROM workunits WHERE id = NEW.workunit) = 2;
END;
ALTER TABLE results ADD COLUMN is_witness INTEGER NOT NULL DEFAULT 0;
ALTER TABLE results ADD COLUMN was_anchor INTEGER NOT NULL DEFAULT 0;
CREATE INDEX results_valid ON results (host) WHERE validate_state = 1;
CREATE TABLE device_records (
  host INTEGER NOT NULL REFERENCES hosts,
  device TEXT NOT NULL,
  arithmetic INTEGER NOT NULL,
  validated INTEGER NOT NULL,
  PRIMARY KEY (host, device, arithmetic)
) STRICT, WITHOUT ROWID;
)sql";

// See Workunit::is_late.
constexpr const char* kLateUnits = R"sql(
ALTER TABLE workunits ADD COLUMN is_late INTEGER NOT NULL DEFAULT 0;
)sql";

// See Run::updates_removed.
constexpr const char* kRetention = R"sql(
ALTER TABLE runs ADD COLUMN updates_removed INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr const char* kBoinc = R"sql(
CREATE TABLE boinc_accounts (
  user INTEGER PRIMARY KEY REFERENCES users,
  email TEXT NOT NULL,
  salt BLOB NOT NULL,
  password BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX boinc_emails ON boinc_accounts (email) WHERE email <> '';
CREATE TABLE boinc_hosts (
  host INTEGER PRIMARY KEY REFERENCES hosts,
  cpid TEXT NOT NULL,
  rpc_seqno INTEGER NOT NULL
) STRICT;
)sql";

// See RecentCredit. Credit of before counts as granted long ago.
constexpr const char* kRecentCredit = R"sql(
ALTER TABLE users ADD COLUMN recent_credit REAL NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN recent_credit_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN recent_credit REAL NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN recent_credit_at INTEGER NOT NULL DEFAULT 0;
)sql";

// One shard was handed out after the other before: those at the places before
// the cursor's were done, whatever steps they have.
constexpr const char* kShardProgress = R"sql(
CREATE TABLE shard_progress (
  run INTEGER NOT NULL REFERENCES runs,
  place INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
INSERT INTO shard_progress
  SELECT id, cursor_shard_position, cursor_epoch, cursor_step
  FROM runs WHERE ended = 0;
INSERT INTO shard_progress
  WITH RECURSIVE done (run, place, epoch) AS (
    SELECT id, cursor_shard_position - 1, cursor_epoch
    FROM runs WHERE ended = 0 AND cursor_shard_position > 0
    UNION ALL
    SELECT run, place - 1, epoch FROM done WHERE place > 0)
  SELECT run, place, epoch, 4294967295 FROM done;
ALTER TABLE runs DROP COLUMN cursor_shard_position;
ALTER TABLE runs DROP COLUMN cursor_step;
)sql";

// Updates were all of whole values.
constexpr const char* kCodecs = R"sql(
ALTER TABLE runs ADD COLUMN codec INTEGER NOT NULL DEFAULT 0;
)sql";

// Other projects, and what of their models is in ours.
constexpr const char* kPeers = R"sql(
CREATE TABLE peers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs,
  url TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  peer_run TEXT NOT NULL,
  every REAL NOT NULL,
  weight REAL NOT NULL,
  mixed INTEGER NOT NULL,
  last_version INTEGER NOT NULL,
  last_parameters BLOB NOT NULL,
  last_time INTEGER NOT NULL
) STRICT;
CREATE TABLE allowed_peers (
  fingerprint TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_peers ON ledger (run, seq) WHERE kind = 'peer';
)sql";

// Runs had hosts in order of their age, and ended with their samples. What runs
// of before have used is not known.
constexpr const char* kShares = R"sql(
ALTER TABLE runs ADD COLUMN share REAL NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN epoch_barrier INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN until_accuracy REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN until_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN until_cost REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN used_seconds_at_work REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN used_host_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN used_cost REAL NOT NULL DEFAULT 0;
)sql";

// See Run::consistency.
constexpr const char* kAssimilators = R"sql(
ALTER TABLE runs ADD COLUMN assimilators INTEGER NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN consistency INTEGER NOT NULL DEFAULT 0;
)sql";

// What operators ordered. AUTOINCREMENT, so that SQLite remembers the greatest
// seq: the removal of the last row shows, too.
constexpr const char* kOrders = R"sql(
CREATE TABLE orders (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;
)sql";

// When a unit was judged, closed and checked: see Workunit.
constexpr const char* kUnitTimes = R"sql(
ALTER TABLE workunits ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workunits ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workunits ADD COLUMN checked INTEGER NOT NULL DEFAULT 0;
)sql";

// See Workunit::is_unverified. The index has hardly a row.
constexpr const char* kUnverifiedUnits = R"sql(
ALTER TABLE workunits ADD COLUMN is_unverified INTEGER NOT NULL DEFAULT 0;
CREATE INDEX workunits_unverified ON workunits (run) WHERE is_unverified = 1;
)sql";

// Names that hosts had before are for their operator alone.
constexpr const char* kChosenNames = R"sql(
ALTER TABLE hosts ADD COLUMN has_chosen_name INTEGER NOT NULL DEFAULT 0;
)sql";

// See User::ban_reason.
constexpr const char* kBannedAccounts = R"sql(
ALTER TABLE users ADD COLUMN ban_reason TEXT NOT NULL DEFAULT '';
)sql";

// See User::has_given_name and User::deleted.
constexpr const char* kDeletedAccounts = R"sql(
ALTER TABLE users ADD COLUMN has_given_name INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
)sql";

// Deleting an account empties texts of its hosts, and does not look through all
// results and events for that.
constexpr const char* kTextsOfHosts = R"sql(
CREATE INDEX hosts_of_user ON hosts (user);
CREATE INDEX results_failed ON results (host) WHERE outcome = 3;
CREATE INDEX events_of_host ON events (host) WHERE host > 0;
)sql";

// Step n leads from schema n to n + 1. Only ever append: stores in the field
// have gone through the earlier ones.
constexpr std::array kSteps = {
    kFirstSchema,     kHostShares,      kSealedTasks,   kOptimizers,
    kMicroBatches,    kTrust,           kLateUnits,     kRetention,
    kBoinc,           kRecentCredit,    kShardProgress, kCodecs,
    kPeers,           kShares,          kAssimilators,  kOrders,
    kUnitTimes,       kUnverifiedUnits, kChosenNames,   kBannedAccounts,
    kDeletedAccounts, kTextsOfHosts};

std::int64_t version_of(SqliteConnection& connection) {
  std::int64_t version = connection.integer("PRAGMA user_version");
  if (version < 0 || version > static_cast<std::int64_t>(kSteps.size())) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("store {}: its schema is version {}, but this program "
                    "knows only up to {}: use the newer program that changed "
                    "it, or restore a backup from before",
                    connection.path().string(), version, kSteps.size()));
  }
  return version;
}

}  // namespace

void expect_newest(SqliteConnection& connection) {
  const std::int64_t version = version_of(connection);
  if (version == static_cast<std::int64_t>(kSteps.size())) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("store {}: its schema is version {}, but this program reads "
                  "{}: start the server once, which updates it",
                  connection.path().string(), version, kSteps.size()));
}

void migrate(SqliteConnection& connection) {
  if (version_of(connection) == static_cast<std::int64_t>(kSteps.size())) {
    return;
  }
  connection.execute("BEGIN IMMEDIATE");
  try {
    // Another program may have been faster.
    auto version = static_cast<std::size_t>(version_of(connection));
    for (; version < kSteps.size(); ++version) {
      connection.execute(kSteps.at(version));
    }
    connection.execute(fmt::format("PRAGMA user_version = {}", version));
    connection.execute("COMMIT");
  } catch (...) {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
    throw;
  }
}

}  // namespace quorate
