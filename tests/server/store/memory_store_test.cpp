#include <array>
#include <csignal>
#include <variant>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/store/store.h"
#include "tests/server/store/store_contract.h"
#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

// A run of one host, whose units one after the other are merged.
struct Life {
  explicit Life(const MemoryStoreOptions& options)
      : store(open_memory_store(options)) {
    test::change(*store, [&] {
      run = test::add_run(*store, 1);
      host = test::add_host(*store, 1);
      entries.front() = test::sample_entries().front();
      append();
    });
  }

  void append() {
    std::vector<LedgerRecord> all = test::chain(entries);
    test::append_records(*store, run, std::span(all).last(1));
  }

  // A unit with a sealed task and a result in progress.
  Workunit make() {
    Workunit unit;
    test::change(*store, [&] {
      unit = test::sample_workunit(++made, run);
      unit.check = UnitCheck::none;
      unit.id = store->insert_workunits({&unit, 1}).at(0);
      store->insert_sealed_tasks(std::array{SealedTask{unit.id, {made}}});
      Result result = test::sample_result(made, unit);
      result.server_state = ServerState::in_progress;
      result.validate_state = ValidateState::init;
      result.host = host;
      unit.canonical_result = test::add_result(*store, result).id;
    });
    return unit;
  }

  void merge(Workunit& unit) {
    test::change(*store, [&] {
      Result result = store->result(unit.canonical_result).value();
      result.server_state = ServerState::over;
      result.validate_state = ValidateState::valid;
      store->update_results({&result, 1});
      LedgerEntry entry = test::sample_entries().at(1);
      std::get<ResultAssimilated>(entry.body).result = result.id;
      entry.seq = entries.size();
      entries.push_back(entry);
      append();
      unit.state = WorkunitState::assimilated;
      store->update_workunits({&unit, 1});
    });
  }

  bool has(const Workunit& unit) {
    const bool is_there = store->workunit(unit.id).has_value();
    CHECK(store->result(unit.canonical_result).has_value() == is_there);
    CHECK(store->sealed_task(unit.object).has_value() == is_there);
    CHECK(store->results_of({&unit.id, 1}).empty() == !is_there);
    return is_there;
  }

  std::unique_ptr<Store> store;
  RunKey run = 0;
  HostId host = 0;
  std::uint8_t made = 0;
  std::vector<LedgerEntry> entries{1};
};

void set_check(Store& store, Workunit unit, UnitCheck check) {
  unit.check = check;
  test::change(store, [&] { store.update_workunits({&unit, 1}); });
}

}  // namespace

TEST_CASE("the store in memory keeps the contract") {
  for (const test::ContractCase& part : test::store_contract()) {
    SUBCASE(part.name) {
      part.check(*open_memory_store());
    }
  }
}

TEST_CASE("closed units beyond the number to keep are dropped, not counts") {
  Life life({.closed_units = 1});
  Workunit one = life.make();
  Workunit two = life.make();
  Workunit open = life.make();
  life.merge(one);
  CHECK(life.has(one));
  CHECK(life.store->workunits_with(life.run, life.host, true).size() == 1);
  life.merge(two);
  CHECK_FALSE(life.has(one));
  CHECK(life.has(two));
  CHECK(life.has(open));
  CHECK(life.store->workunits({life.run}, {}).size() == 2);
  CHECK(
      test::same(life.store->workunits_with(life.run, life.host, true), {two}));
  CHECK(life.store->results({life.run}, {}).size() == 2);

  const RunTotals totals = life.store->totals(life.run);
  CHECK(totals.units_made == 3);
  CHECK(totals.units_closed == 2);
  CHECK(totals.results_valid == 2);
  CHECK(totals.samples == one.samples + two.samples);
  CHECK(life.store->shares_of(life.host).at(0).results == 2);
  // No id is given twice.
  life.merge(open);
  CHECK(life.make().id == open.id + 1);
}

TEST_CASE("what is still to be decided is not dropped") {
  Life life({.closed_units = 0});
  Workunit unit = life.make();
  SUBCASE("a result is in progress") {
    unit.state = WorkunitState::cancelled;
    test::change(*life.store, [&] {
      life.store->update_workunits({&unit, 1});
    });
    CHECK(life.has(unit));
    Result result = life.store->result(unit.canonical_result).value();
    result.server_state = ServerState::over;
    test::change(*life.store, [&] {
      life.store->update_results({&result, 1});
    });
  }
  SUBCASE("it is to be rechecked") {
    unit.check = UnitCheck::recheck;
    life.merge(unit);
    CHECK(life.has(unit));
    CHECK(life.store->workunits_to_check(life.run).size() == 1);
    set_check(*life.store, unit, UnitCheck::sound);
  }
  SUBCASE("nobody recomputed it") {
    unit.is_unverified = true;
    life.merge(unit);
    CHECK(life.has(unit));
    return;
  }
  SUBCASE("its revocation is being done") {
    unit.check = UnitCheck::unsound;
    life.merge(unit);
    set_check(*life.store, unit, UnitCheck::revoked);
    CHECK(life.has(unit));
    return;
  }
  CHECK_FALSE(life.has(unit));
}

TEST_CASE("a unit that is rechecked while it waits to be dropped stays") {
  Life life({.closed_units = 1});
  Workunit one = life.make();
  Workunit two = life.make();
  Workunit three = life.make();
  life.merge(one);
  set_check(*life.store, one, UnitCheck::recheck);
  life.merge(two);
  CHECK(life.has(one));
  set_check(*life.store, one, UnitCheck::sound);
  CHECK_FALSE(life.has(two));  // the longest closed, now
  CHECK(life.has(one));
  life.merge(three);
  CHECK_FALSE(life.has(one));
}

TEST_CASE("of ledgers the last records stay, and the last snapshot") {
  Life life({.ledger_records = 2});
  std::vector<Workunit> units{life.make(), life.make(), life.make()};
  for (Workunit& unit : units) life.merge(unit);
  std::vector<LedgerRecord> all = test::chain(life.entries);
  REQUIRE(all.size() == 4);
  CHECK(test::same(life.store->ledger(life.run, 0, 10), {all[2], all[3]}));
  CHECK(test::same(life.store->ledger(life.run, 3, 10), {all[3]}));
  CHECK(test::same(life.store->last_record(life.run).value(), all[3]));
  CHECK(test::same(life.store->last_snapshot_record(life.run).value(), all[0]));
}

TEST_CASE("the last record stays even if none is to be kept") {
  Life life({.ledger_records = 0});
  Workunit unit = life.make();
  life.merge(unit);
  CHECK(life.store->last_record(life.run).value().seq == 1);
  Workunit next = life.make();
  life.merge(next);  // continues it
  CHECK(life.store->last_record(life.run).value().seq == 2);
}

TEST_CASE("of events the last ones stay") {
  std::unique_ptr<Store> store = open_memory_store({.events = 2});
  std::vector<Event> all{test::sample_event(1), test::sample_event(2),
                         test::sample_event(3)};
  test::change(*store, [&] { store->insert_events(all); });
  std::vector<Event> found = store->events({});
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == all[2].text);
  CHECK(found[0].id == 3);
  CHECK(found[1].text == all[1].text);
}

TEST_CASE("a change of the store in memory outside a transaction is a bug") {
  const pid_t child = ::fork();
  if (child == 0) {
    // Keeps the report out of the test's output.
    ::close(STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    open_memory_store()->insert_user(test::sample_user(1));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

}  // namespace quorate
