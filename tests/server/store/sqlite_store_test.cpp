// Longer than other tests: older stores are made by undoing step after step.
#include "server/store/sqlite/sqlite_store.h"

#include <array>
#include <csignal>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "server/store/sqlite/connection.h"
#include "tests/server/store/store_contract.h"
#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

// The schema's last steps undone: what a store of before them has.
constexpr const char* kWithoutOrders = "DROP TABLE orders";
constexpr const char* kWithoutAssimilators =
    "ALTER TABLE runs DROP COLUMN assimilators; "
    "ALTER TABLE runs DROP COLUMN consistency";
constexpr const char* kWithoutShares =
    "ALTER TABLE runs DROP COLUMN share; "
    "ALTER TABLE runs DROP COLUMN epoch_barrier; "
    "ALTER TABLE runs DROP COLUMN until_accuracy; "
    "ALTER TABLE runs DROP COLUMN until_seconds; "
    "ALTER TABLE runs DROP COLUMN until_cost; "
    "ALTER TABLE runs DROP COLUMN used_seconds_at_work; "
    "ALTER TABLE runs DROP COLUMN used_host_seconds; "
    "ALTER TABLE runs DROP COLUMN used_cost";
constexpr const char* kWithoutUnitTimes =
    "ALTER TABLE workunits DROP COLUMN judged; "
    "ALTER TABLE workunits DROP COLUMN closed; "
    "ALTER TABLE workunits DROP COLUMN checked";
constexpr const char* kWithoutPeers =
    "DROP TABLE peers; DROP TABLE allowed_peers; DROP INDEX ledger_peers";
constexpr const char* kWithoutCodecs = "ALTER TABLE runs DROP COLUMN codec";
constexpr const char* kWithoutShardProgress =
    "DROP TABLE shard_progress; "
    "ALTER TABLE runs ADD COLUMN cursor_shard_position INTEGER NOT NULL "
    "DEFAULT 0; "
    "ALTER TABLE runs ADD COLUMN cursor_step INTEGER NOT NULL DEFAULT 0";
constexpr const char* kWithoutRecentCredit =
    "ALTER TABLE users DROP COLUMN recent_credit; "
    "ALTER TABLE users DROP COLUMN recent_credit_at; "
    "ALTER TABLE hosts DROP COLUMN recent_credit; "
    "ALTER TABLE hosts DROP COLUMN recent_credit_at";
constexpr const char* kWithoutUnverifiedUnits =
    "DROP INDEX workunits_unverified; "
    "ALTER TABLE workunits DROP COLUMN is_unverified";
constexpr const char* kWithoutChosenNames =
    "ALTER TABLE hosts DROP COLUMN has_chosen_name";
constexpr const char* kWithoutDeletedAccounts =
    "ALTER TABLE users DROP COLUMN has_given_name; "
    "ALTER TABLE users DROP COLUMN deleted";
constexpr const char* kWithoutBannedAccounts =
    "ALTER TABLE users DROP COLUMN ban_reason";
constexpr const char* kWithoutTextsOfHosts =
    "DROP INDEX hosts_of_user; DROP INDEX results_failed; "
    "DROP INDEX events_of_host";
// The newest first.
constexpr std::array kUndone = {
    kWithoutTextsOfHosts, kWithoutDeletedAccounts, kWithoutBannedAccounts,
    kWithoutChosenNames,  kWithoutUnverifiedUnits, kWithoutUnitTimes,
    kWithoutOrders,       kWithoutAssimilators,    kWithoutShares,
    kWithoutPeers,        kWithoutCodecs,          kWithoutShardProgress,
    kWithoutRecentCredit};
constexpr std::size_t kNewest = 22;

void go_back_to(SqliteConnection& store, std::size_t version) {
  for (std::size_t k = 0; k < kNewest - version; ++k) {
    store.execute(kUndone.at(k));
  }
  store.execute(fmt::format("PRAGMA user_version = {}", version));
}

// The error that `call` throws; usage if it throws none.
template <class F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::usage, "nothing was thrown");
}

// Runs `body` in a child process and waits for its end.
template <class Body>
int status_of_child(Body body) {
  pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void insert_event(Store& store, const std::string& text) {
  Event event;
  event.text = text;
  store.insert_events({&event, 1});
}

void commit_event(Store& store, const std::string& text) {
  store.begin();
  insert_event(store, text);
  store.commit();
}

std::vector<std::string> event_texts(Store& store) {
  std::vector<std::string> texts;
  for (const Event& event : store.events({.limit = 10'000})) {
    texts.push_back(event.text);
  }
  return texts;
}

// SQLite's header keeps PRAGMA user_version at byte 60, big-endian.
constexpr std::size_t kVersionOffset = 60;

void overwrite(const fs::path& path, std::size_t offset, ByteView bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file << as_text(bytes);
}

}  // namespace

TEST_CASE("the SQLite store keeps the contract") {
  for (const test::ContractCase& part : test::store_contract()) {
    SUBCASE(part.name) {
      SUBCASE("in memory") {
        part.check(*open_sqlite_store(":memory:"));
      }
      SUBCASE("in a file") {
        test::TemporaryFolder folder;
        part.check(*open_sqlite_store(folder / "store.sqlite"));
      }
    }
  }
}

TEST_CASE("a store that is opened again has what was committed") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  User user = test::sample_user(1);
  {
    auto store = open_sqlite_store(path);
    store->begin();
    user.id = store->insert_user(user);
    store->commit();
    store->begin();
    store->insert_user(test::sample_user(2));
    // Closed in the middle of a transaction.
  }
  auto store = open_sqlite_store(path);
  REQUIRE(store->users().size() == 2);
  CHECK(test::same(store->users()[1], user));
  CHECK(store->users()[0].id == kHouseUser);
}

TEST_CASE("two stores on one file see each other's commits") {
  test::TemporaryFolder folder;
  auto one = open_sqlite_store(folder / "store.sqlite");
  auto two = open_sqlite_store(folder / "store.sqlite");
  one->begin();
  insert_event(*one, "first");
  CHECK(event_texts(*two).empty());
  one->commit();
  CHECK(event_texts(*two) == std::vector<std::string>{"first"});
}

TEST_CASE("a killed process leaves what it committed and nothing else") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  int status = status_of_child([&] {
    auto store = open_sqlite_store(path);
    commit_event(*store, "first");
    commit_event(*store, "second");
    store->begin();
    // More than the cache holds, so that part of it is written already.
    for (int i = 0; i < 5000; ++i) insert_event(*store, std::string(1000, 'x'));
    ::raise(SIGKILL);
  });
  REQUIRE(WIFSIGNALED(status));
  auto store = open_sqlite_store(path);
  CHECK(event_texts(*store) == std::vector<std::string>{"second", "first"});
  commit_event(*store, "third");
  CHECK(event_texts(*store).size() == 3);
}

TEST_CASE("a store changed by a newer program is refused and left alone") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  open_sqlite_store(path);
  Bytes before = read_file(path);
  REQUIRE(before.at(kVersionOffset + 3) == kNewest);
  before[kVersionOffset + 2] = 1;
  const std::string version = std::to_string(256 + kNewest);
  overwrite(path, 0, before);

  Error error = error_of([&] { open_sqlite_store(path); });
  CHECK(error.kind() == ErrorKind::unsupported);
  CHECK(std::string(error.what()).find(version) != std::string::npos);
  CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
  CHECK(read_file(path) == before);
}

TEST_CASE("shares are counted as the ledger grows, and found again in it") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  RunKey run = 0;
  HostId host = 0;
  {
    auto store = open_sqlite_store(path);
    store->begin();
    run = test::add_run(*store, 1);
    host = test::add_host(*store, 1);
    std::vector<LedgerEntry> entries = test::sample_entries();
    for (std::uint8_t n = 1; n <= 3; ++n) {
      Result result =
          test::sample_result(n, test::add_workunit(*store, n, run));
      result.host = host;
      result.validate_state =
          n == 2 ? ValidateState::invalid : ValidateState::valid;
      auto& entry = std::get<ResultAssimilated>(entries.at(n).body);
      entry.result = test::add_result(*store, result).id;
    }
    test::append_records(*store, run, test::chain(entries));
    store->commit();
  }
  auto check_shares = [&] {
    auto store = open_sqlite_store(path);
    std::vector<HostShare> shares = store->shares_of(host);
    REQUIRE(shares.size() == 1);
    CHECK(shares[0].run == run);
    CHECK(shares[0].results == 2);
    CHECK(shares[0].first_version == 1);
    CHECK(shares[0].last_version == 2);
    CHECK(store->shares_of(host + 1).empty());
  };
  check_shares();

  // As the first version of the schema left it.
  {
    SqliteConnection first(path);
    go_back_to(first, 9);
    first.execute(
        "DROP TRIGGER totals_of_revoked_workunit; "
        "DROP TRIGGER shares_of_withdrawn_result; "
        "DROP TRIGGER shares_of_ledger; DROP TABLE host_shares; "
        "DROP INDEX workunits_by_object; DROP TABLE sealed_tasks; "
        "ALTER TABLE runs DROP COLUMN optimizer; "
        "ALTER TABLE runs DROP COLUMN beta1; "
        "ALTER TABLE runs DROP COLUMN beta2; "
        "ALTER TABLE runs DROP COLUMN epsilon; "
        "ALTER TABLE runs DROP COLUMN clip_norm; "
        "ALTER TABLE runs DROP COLUMN micro_batch; "
        "ALTER TABLE runs DROP COLUMN updates_removed; "
        "DROP TABLE boinc_accounts; DROP TABLE boinc_hosts; "
        "DROP TABLE device_records; DROP INDEX results_valid; DROP INDEX "
        "workunits_to_check; "
        "ALTER TABLE run_totals DROP COLUMN results_revoked; "
        "ALTER TABLE hosts DROP COLUMN mark; "
        "ALTER TABLE hosts DROP COLUMN mark_reason; "
        "ALTER TABLE hosts DROP COLUMN false_results; "
        "ALTER TABLE workunits DROP COLUMN check_state; "
        "ALTER TABLE workunits DROP COLUMN is_late; "
        "ALTER TABLE results DROP COLUMN is_witness; "
        "ALTER TABLE results DROP COLUMN was_anchor; "
        "PRAGMA user_version = 1");
  }
  check_shares();
}

TEST_CASE(
    "people of an older store are not banned, and have no recent credit") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  User user = test::sample_user(1);
  {
    auto store = open_sqlite_store(path);
    store->begin();
    user.id = store->insert_user(user);
    store->insert_host(test::sample_host(1, user.id));
    store->commit();
  }
  {
    SqliteConnection older(path);
    go_back_to(older, 9);
  }
  auto store = open_sqlite_store(path);
  user.recent = {};
  user.ban_reason.clear();
  user.has_given_name = false;
  user.deleted = 0;
  CHECK(test::same(store->users().at(1), user));
  CHECK(store->hosts().at(0).recent == RecentCredit{});
}

TEST_CASE("an older store's runs have whole values, equal shares, no end") {
  test::TemporaryFolder folder;
  const fs::path path = folder / "store.sqlite";
  Run run = test::sample_run(1);
  run.codec = Codec::int4;
  {
    auto store = open_sqlite_store(path);
    store->begin();
    run.key = store->insert_run(run, test::sample_cursor(1));
    store->commit();
    CHECK(test::same(store->runs().at(0), run));
  }
  {
    SqliteConnection older(path);
    go_back_to(older, 11);
  }
  run.codec = Codec::fp32;
  run.share = 1;
  run.until = {};
  run.epoch_barrier = false;
  run.assimilators = 1;
  run.consistency = Consistency::strong;
  auto store = open_sqlite_store(path);
  CHECK(test::same(store->runs().at(0), run));
  CHECK(store->cursor(run.key).used.host_seconds == 0);
}

TEST_CASE("nobody knows when the units of an older store were judged") {
  test::TemporaryFolder folder;
  const fs::path path = folder / "store.sqlite";
  Workunit unit;
  {
    auto store = open_sqlite_store(path);
    store->begin();
    unit = test::add_workunit(*store, 1, test::add_run(*store, 1),
                              WorkunitState::assimilated);
    store->commit();
  }
  {
    SqliteConnection older(path);
    go_back_to(older, 16);
  }
  unit.judged = unit.closed = unit.checked = 0;
  CHECK(test::same(open_sqlite_store(path)->workunit(unit.id).value(), unit));
}

TEST_CASE("a store of one shard after the other goes on in the middle of one") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  RunKey begun = 0;
  RunKey fresh = 0;
  RunKey ended = 0;
  {
    auto store = open_sqlite_store(path);
    store->begin();
    auto add = [&](std::uint8_t n, Millis end) {
      Run run = test::sample_run(n);
      run.ended = end;
      return store->insert_run(run, test::sample_cursor(n));
    };
    begun = add(1, 0);
    fresh = add(2, 0);
    ended = add(3, 1234);
    store->commit();
  }
  {
    SqliteConnection older(path);
    go_back_to(older, 10);
    older.execute(fmt::format(
        "UPDATE runs SET cursor_shard_position = 3, cursor_step = 40 "
        "WHERE id <> {}",
        fresh));
  }
  auto store = open_sqlite_store(path);
  const std::uint32_t epoch = test::sample_cursor(1).epoch;
  std::vector<ShardProgress> rows = store->shard_progress(begun, epoch);
  REQUIRE(rows.size() == 4);
  for (std::uint32_t place = 0; place < 3; ++place) {
    CHECK(rows[place].place == place);
    CHECK(rows[place].steps == UINT32_MAX);  // all that there are
  }
  CHECK(rows[3].place == 3);
  CHECK(rows[3].steps == 40);
  RunCursor cursor = test::sample_cursor(1);
  cursor.used = {};
  CHECK(test::same(store->cursor(begun), cursor));
  std::vector<ShardProgress> none =
      store->shard_progress(fresh, test::sample_cursor(2).epoch);
  REQUIRE(none.size() == 1);
  CHECK(none[0].place == 0);
  CHECK(none[0].steps == 0);
  CHECK(store->shard_progress(ended, test::sample_cursor(3).epoch).empty());
}

TEST_CASE("a migration that fails leaves the file as it was") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  {
    SqliteConnection other(path);
    other.execute("CREATE TABLE ledger (x)");  // in the first step's way
  }
  CHECK(error_of([&] { open_sqlite_store(path); }).kind() == ErrorKind::io);
  SqliteConnection connection(path);
  CHECK(connection.integer("PRAGMA user_version") == 0);
  CHECK(connection.integer("SELECT count(*) FROM sqlite_master") == 1);
}

TEST_CASE("a database that another program holds is unavailable") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  auto store = open_sqlite_store(path);
  auto other = open_sqlite_store(path);
  other->begin();
  Error error = error_of([&] { store->begin(); });
  CHECK(error.kind() == ErrorKind::unavailable);
  CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
  other->commit();
  commit_event(*store, "now");
  CHECK(event_texts(*other).size() == 1);
}

TEST_CASE("what is no store is refused, with its path") {
  test::TemporaryFolder folder;
  fs::path path = folder / "file";
  SUBCASE("not a database") {
    std::string text(8192, '#');
    write_file_durably(path, as_bytes(text));
    CHECK(error_of([&] { open_sqlite_store(path); }).kind() == ErrorKind::io);
    CHECK(read_text_file(path) == text);
  }
  SUBCASE("a folder") {
    fs::create_directory(path);
  }
  SUBCASE("in a folder that does not exist") {
    path = path / "store";
  }
  Error error = error_of([&] { open_sqlite_store(path); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
}

TEST_CASE("a damaged file is reported, not believed") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  open_sqlite_store(path);
  // All but the first page, which has the schema's beginning.
  std::size_t size = fs::file_size(path);
  overwrite(path, 4096, Bytes(size - 4096, 0xee));
  Error error = error_of([&] { open_sqlite_store(path)->users(); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(std::string(error.what()).find("backup") != std::string::npos);
}

TEST_CASE("a column that does not hold what it should is named") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  auto store = open_sqlite_store(path);
  store->begin();
  RunKey run = store->insert_run(test::sample_run(1), {});
  store->commit();
  SqliteConnection other(path);
  std::string column;
  auto read = [&] { store->runs(); };
  SUBCASE("a short key") {
    other.execute("UPDATE runs SET run_id = x'00'");
    column = "run_id";
  }
  SUBCASE("a number out of range") {
    other.execute("UPDATE runs SET epochs = 4294967296");
    column = "epochs";
  }
  SUBCASE("a number below zero") {
    other.execute("UPDATE runs SET batch = -1");
    column = "batch";
  }
  Error error = error_of(read);
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(std::string(error.what()).find(column) != std::string::npos);
  CHECK(test::same(store->cursor(run), RunCursor{}));
}

TEST_CASE("a full disk fails the transaction and nothing before it") {
  test::TemporaryFolder folder;
  fs::path path = folder / "store.sqlite";
  // A limit on the size of files stands for the disk.
  int status = status_of_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    auto store = open_sqlite_store(path);
    commit_event(*store, "kept");
    rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Error error =
        error_of([&] { commit_event(*store, std::string(2 << 20, 'x')); });
    store->rollback();
    bool reported =
        error.kind() == ErrorKind::io &&
        std::string(error.what()).find(path.string()) != std::string::npos;
    commit_event(*store, "small");
    ::_exit(reported ? 0 : 1);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  auto store = open_sqlite_store(path);
  CHECK(event_texts(*store) == std::vector<std::string>{"small", "kept"});
}

TEST_CASE("a change outside a transaction is a bug and ends the process") {
  test::TemporaryFolder folder;
  int status = status_of_child([&] {
    // Keeps the report out of the test's output.
    ::close(STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    insert_event(*open_sqlite_store(":memory:"), "alone");
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

}  // namespace quorate
