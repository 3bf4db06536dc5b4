#include "tests/server/store/store_contract.h"

#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/server/store/change_contract.h"
#include "tests/server/store/filter_contract.h"
#include "tests/server/store/ledger_contract.h"
#include "tests/server/store/people_contract.h"
#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate::test {
namespace {

void finds_units_by_what_vouches_for_them(Store& store) {
  using enum WorkunitState;
  HostId mallory = 0, ann = 0;
  RunKey run = 0;
  std::uint8_t n = 0;
  auto add = [&](WorkunitState state, UnitCheck check, HostId host,
                 ValidateState verdict, bool anchor) {
    Workunit unit = sample_workunit(++n, run);
    unit.state = state;
    unit.check = check;
    unit.id = store.insert_workunits({&unit, 1}).at(0);
    Result result = sample_result(n, unit);
    result.host = host;
    result.validate_state = verdict;
    result.was_anchor = anchor;
    add_result(store, result);
    return unit;
  };
  auto join = [&](const Workunit& unit, HostId host, bool anchor) {
    Result result = sample_result(++n, unit);
    result.host = host;
    result.validate_state = ValidateState::valid;
    result.was_anchor = anchor;
    add_result(store, result);
  };
  Workunit alone, with_stranger, with_proven, sound, waiting;
  change(store, [&] {
    mallory = add_host(store, 100);
    ann = add_host(store, 101);
    run = add_run(store, 1);
    RunKey other = add_run(store, 2);
    constexpr auto kValid = ValidateState::valid;
    alone = add(assimilated, UnitCheck::none, mallory, kValid, true);
    add(validated, UnitCheck::none, mallory, kValid, true);
    with_stranger = add(assimilated, UnitCheck::none, mallory, kValid, true);
    join(with_stranger, ann, false);
    with_proven = add(assimilated, UnitCheck::none, mallory, kValid, true);
    join(with_proven, ann, true);
    sound = add(assimilated, UnitCheck::sound, mallory, kValid, true);
    add(assimilated, UnitCheck::none, mallory, ValidateState::invalid, true);
    add(open, UnitCheck::none, mallory, ValidateState::init, false);
    add(assimilated, UnitCheck::none, ann, kValid, true);
    waiting = add(assimilated, UnitCheck::recheck, mallory, kValid, true);
    add(assimilated, UnitCheck::revoked, mallory, kValid, true);
    run = other;
    add(assimilated, UnitCheck::unsound, mallory, kValid, true);
    run = alone.run;
  });
  CHECK(same(store.workunits_with(run, mallory, true),
             {alone, with_stranger, with_proven}));
  CHECK(same(store.workunits_with(run, mallory, false),
             {alone, with_stranger, with_proven, sound, waiting}));
  CHECK(same(store.workunits_to_check(run), {waiting}));
}

void keeps_runs_and_their_cursors(Store& store) {
  Run one = sample_run(1);
  Run two = sample_run(2);
  change(store, [&] {
    one.key = store.insert_run(one, sample_cursor(1));
    two.key = store.insert_run(two, sample_cursor(2));
  });
  CHECK(same(store.runs(), {one, two}));
  CHECK(same(store.cursor(one.key), sample_cursor(1)));

  Run changed = sample_run(3);
  changed.key = one.key;
  change(store, [&] { store.update_run(changed); });
  CHECK(same(store.runs(), {changed, two}));
  CHECK(same(store.cursor(one.key), sample_cursor(1)));

  change(store, [&] { store.update_cursor(one.key, sample_cursor(4)); });
  CHECK(same(store.runs(), {changed, two}));
  CHECK(same(store.cursor(one.key), sample_cursor(4)));
  CHECK(same(store.cursor(two.key), sample_cursor(2)));
}

void keeps_the_progress_of_shards(Store& store) {
  RunKey run = 0;
  RunKey other = 0;
  change(store, [&] {
    run = add_run(store, 1);
    other = add_run(store, 2);
    for (std::uint8_t n = 2; n > 0; --n) {
      store.replace_shard_progress(sample_progress(n, run));
    }
    store.replace_shard_progress(sample_progress(1, other));
  });
  ShardProgress one = sample_progress(1, run);
  ShardProgress two = sample_progress(2, run);
  CHECK(same(store.shard_progress(run, 5), {one, two}));

  one.steps = 77;
  two.epoch = 6;
  change(store, [&] {
    store.replace_shard_progress(one);
    store.replace_shard_progress(two);
  });
  CHECK(same(store.shard_progress(run, 5), {one}));
  CHECK(same(store.shard_progress(run, 6), {two}));
  CHECK(store.shard_progress(run, 7).empty());
  CHECK(same(store.shard_progress(other, 5), {sample_progress(1, other)}));
}

void keeps_workunits(Store& store) {
  RunKey run = 0;
  std::vector<Workunit> units;
  change(store, [&] {
    run = add_run(store, 1);
    RunKey other = add_run(store, 2);
    units = {sample_workunit(1, run), sample_workunit(2, run),
             sample_workunit(3, other), sample_workunit(4, run)};
    std::vector<WorkunitId> ids = store.insert_workunits(units);
    REQUIRE(ids.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) units[i].id = ids[i];
  });
  CHECK(same(store.workunit(units[2].id).value(), units[2]));
  CHECK_FALSE(store.workunit(units[3].id + 1));
  CHECK(same(store.workunits({run}, {}), {units[3], units[1], units[0]}));
  CHECK(same(store.workunits({run}, {.limit = 1}), {units[3]}));
  CHECK(same(
      store.workunits({run}, {.limit = UINT64_MAX, .before_id = units[3].id}),
      {units[1], units[0]}));

  const Workunit before = units[0];
  units[0] = sample_workunit(5, run);
  units[0].id = before.id;
  units[0].object = before.object;  // which never changes
  units[0].state = WorkunitState::failed;
  change(store, [&] {
    Result result = sample_result(1, units[0]);
    units[0].canonical_result = store.insert_results({&result, 1}).at(0);
    store.update_workunits(std::array{units[0], units[1]});
  });
  CHECK(same(store.workunits({run}, {}), {units[3], units[1], units[0]}));
}

void keeps_sealed_tasks(Store& store) {
  Workunit one;
  Workunit two;
  change(store, [&] {
    RunKey run = add_run(store, 1);
    one = add_workunit(store, 1, run);
    two = add_workunit(store, 2, run);
    store.insert_sealed_tasks(
        std::array{SealedTask{one.id, {1, 0, 2}}, SealedTask{two.id, {3}}});
  });
  CHECK(store.sealed_task(one.object) == Bytes{1, 0, 2});
  CHECK(store.sealed_task(two.object) == Bytes{3});
  CHECK_FALSE(store.sealed_task(filled<Hash>(77)));
}

void finds_live_workunits(Store& store) {
  using enum WorkunitState;
  std::vector<Workunit> expected;
  change(store, [&] {
    RunKey run = add_run(store, 1);
    std::uint8_t n = 1;
    for (WorkunitState state : {failed, diverged, cancelled, credited,
                                assimilated, validated, open}) {
      for (ServerState held :
           {ServerState::unsent, ServerState::in_progress, ServerState::over}) {
        Workunit unit = add_workunit(store, n++, run, state);
        Result result = sample_result(1, unit);
        add_result(store, result);
        result.server_state = held;
        add_result(store, result);
        if (state == open || state == validated ||
            held == ServerState::in_progress) {
          expected.push_back(unit);
        }
      }
    }
  });
  CHECK(expected.size() == 11);
  CHECK(same(store.live_workunits(), expected));
}

void keeps_results(Store& store) {
  RunKey run = 0;
  std::vector<Workunit> units;
  std::vector<Result> all;
  change(store, [&] {
    run = add_run(store, 1);
    units = {add_workunit(store, 1, run), add_workunit(store, 2, run),
             add_workunit(store, 3, add_run(store, 2))};
    all = {sample_result(1, units[0]), sample_result(2, units[1]),
           sample_result(3, units[0]), sample_result(4, units[2])};
    all[1].host = add_host(store, 1);
    all[1].user = kHouseUser;
    std::vector<ResultId> ids = store.insert_results(all);
    for (std::size_t i = 0; i < 4; ++i) all[i].id = ids.at(i);
  });
  CHECK(same(store.result(all[1].id).value(), all[1]));
  CHECK_FALSE(store.result(all[3].id + 1));
  CHECK(same(store.results_of(std::array{units[1].id, units[0].id}),
             {all[0], all[1], all[2]}));
  CHECK(store.results_of({}).empty());
  CHECK(same(store.results({run}, {}), {all[2], all[1], all[0]}));
  CHECK(same(store.results({run}, {.limit = 1, .before_id = all[2].id}),
             {all[1]}));

  ResultId id = all[0].id;
  all[0] = sample_result(6, units[0]);
  all[0].id = id;
  all[0].host = all[1].host;
  all[0].server_state = ServerState::in_progress;
  Result blank;  // nothing reported, nobody's
  blank.id = all[1].id;
  blank.workunit = units[1].id;
  blank.run = run;
  all[1] = blank;
  change(store, [&] {
    store.update_results(std::array{all[0], all[1]});
    // A look in the transaction shows them.
    CHECK(same(store.result(all[0].id).value(), all[0]));
  });
  CHECK(same(store.results({run}, {}), {all[2], all[1], all[0]}));
}

void finds_rejected_and_recent_results(Store& store) {
  RunKey run = 0;
  std::vector<Result> all;
  change(store, [&] {
    run = add_run(store, 1);
    Workunit unit = add_workunit(store, 1, run);
    Workunit elsewhere = add_workunit(store, 2, add_run(store, 2));
    for (std::uint8_t n = 1; n <= 5; ++n) {
      Result result = sample_result(n, n == 5 ? elsewhere : unit);
      result.received = n == 1 ? 0 : 1000 * n;
      result.validate_state =
          n == 2 ? ValidateState::valid : ValidateState::invalid;
      all.push_back(add_result(store, result));
    }
  });
  CHECK(same(store.rejected_results(run, {}), {all[3], all[2], all[0]}));
  CHECK(same(store.rejected_results(run, {.limit = 1, .before_id = all[3].id}),
             {all[2]}));
}

void keeps_evaluations(Store& store) {
  RunKey run = 0;
  Evaluation one;
  Evaluation two;
  change(store, [&] {
    run = add_run(store, 1);
    one = sample_evaluation(1, run);
    two = sample_evaluation(2, run);
    store.insert_evaluation(two);
    store.insert_evaluation(one);
    store.insert_evaluation(sample_evaluation(1, add_run(store, 2)));
  });
  CHECK(same(store.evaluations(run), {one, two}));

  one = sample_evaluation(3, run);
  one.version = 1;
  change(store, [&] { store.insert_evaluation(one); });
  CHECK_MESSAGE(same(store.evaluations(run), {one, two}),
                "evaluated again: the latest counts");

  one.loss = std::numeric_limits<double>::quiet_NaN();
  two.loss = std::numeric_limits<double>::infinity();
  change(store, [&] {
    store.insert_evaluation(one);
    store.insert_evaluation(two);
  });
  std::vector<Evaluation> lost = store.evaluations(run);
  CHECK(std::isnan(lost.at(0).loss));
  CHECK(lost.at(1).loss == two.loss);
}

void keeps_events(Store& store) {
  std::vector<Event> all{sample_event(1), sample_event(2), sample_event(3)};
  change(store, [&] {
    all[1].run = add_run(store, 1);
    all[1].host = add_host(store, 1);
    store.insert_events(all);
  });
  std::vector<Event> found = store.events({});
  REQUIRE(found.size() == 3);
  CHECK(found[0].id > found[1].id);
  CHECK(found[1].id > found[2].id);
  for (std::size_t i = 0; i < 3; ++i) all[i].id = found[2 - i].id;
  CHECK(same(found, {all[2], all[1], all[0]}));
  CHECK(same(store.events({.limit = 1, .before_id = all[2].id}), {all[1]}));
}

// Totals by reading rows: what totals() must equal.
RunTotals counted(Store& store, RunKey run) {
  RunTotals totals;
  for (const Workunit& unit : store.workunits({run}, {.limit = 1000})) {
    ++totals.units_made;
    if (unit.state == WorkunitState::assimilated) {
      ++totals.results_assimilated;
      totals.samples += unit.samples;
    }
    if (unit.state != WorkunitState::open &&
        unit.state != WorkunitState::validated) {
      ++totals.units_closed;
    }
  }
  for (const Result& result : store.results({run}, {.limit = 1000})) {
    if (result.validate_state == ValidateState::valid) ++totals.results_valid;
    if (result.validate_state == ValidateState::invalid) {
      ++totals.results_rejected;
    }
  }
  return totals;
}

void counts_totals(Store& store) {
  using enum WorkunitState;
  constexpr std::array kStates{open,      validated, assimilated, credited,
                               cancelled, diverged,  failed};
  constexpr std::array kVerdicts{ValidateState::init, ValidateState::valid,
                                 ValidateState::invalid, ValidateState::error,
                                 ValidateState::inconclusive};
  RunKey run = 0;
  RunKey other = 0;
  change(store, [&] {
    run = add_run(store, 1);
    other = add_run(store, 2);
  });
  CHECK(same(store.totals(run), RunTotals{}));
  CHECK(same(store.totals(other + 1), RunTotals{}));

  // From every state to every state, inserted in the first.
  std::uint8_t n = 1;
  for (WorkunitState from : kStates) {
    for (WorkunitState to : kStates) {
      change(store, [&] {
        Workunit unit = add_workunit(store, n++, run, from);
        CHECK(same(store.totals(run), counted(store, run)));
        unit.state = to;
        store.update_workunits({&unit, 1});
      });
      CHECK(same(store.totals(run), counted(store, run)));
    }
  }
  Workunit unit = store.workunits({run}, {.limit = 1}).at(0);
  for (ValidateState from : kVerdicts) {
    for (ValidateState to : kVerdicts) {
      change(store, [&] {
        Result result = sample_result(1, unit);
        result.validate_state = from;
        result = add_result(store, result);
        CHECK(same(store.totals(run), counted(store, run)));
        result.validate_state = to;
        store.update_results({&result, 1});
      });
      CHECK(same(store.totals(run), counted(store, run)));
    }
  }
  CHECK(store.totals(run).samples > 0);
  CHECK(store.totals(run).results_rejected > 0);
  CHECK(same(store.totals(other), RunTotals{}));
}

void forgets_what_is_rolled_back(Store& store) {
  RunKey run = 0;
  Workunit unit;
  change(store, [&] {
    run = add_run(store, 1);
    unit = add_workunit(store, 1, run);
  });
  store.begin();
  add_host(store, 1);
  add_workunit(store, 2, run);
  Workunit changed = unit;
  changed.state = WorkunitState::assimilated;
  store.update_workunits({&changed, 1});
  store.update_cursor(run, sample_cursor(2));
  store.replace_shard_progress(sample_progress(1, run));
  CHECK(store.totals(run).units_made == 2);
  store.rollback();

  CHECK(store.hosts().empty());
  CHECK(same(store.workunits({run}, {}), {unit}));
  CHECK(same(store.cursor(run), sample_cursor(1)));
  CHECK(store.shard_progress(run, 5).empty());
  CHECK(same(store.totals(run), RunTotals{.units_made = 1}));
  store.rollback();  // nothing to undo: does nothing
  change(store, [&] { add_host(store, 1); });
  CHECK(store.hosts().size() == 1);
}

void refuses_rows_that_contradict_others(Store& store) {
  RunKey run = 0;
  Workunit unit;
  change(store, [&] {
    run = add_run(store, 1);
    unit = add_workunit(store, 1, run);
    add_host(store, 1);
  });
  Workunit orphan = sample_workunit(2, run + 1);
  Result lost = sample_result(1, unit);
  lost.workunit = unit.id + 1;
  Result unheld = sample_result(1, unit);
  unheld.host = 99;
  Result missing = sample_result(1, unit);
  missing.id = 99;
  check_refused(store, [&] { store.insert_host(sample_host(2, 99)); });
  check_refused(store, [&] { add_host(store, 1); });  // the same key
  check_refused(store, [&] { add_run(store, 1); });   // the same id
  check_refused(store, [&] { store.insert_workunits({&orphan, 1}); });
  check_refused(store, [&] { store.insert_results({&lost, 1}); });
  check_refused(store, [&] { store.insert_results({&unheld, 1}); });
  check_refused(store, [&] { store.update_results({&missing, 1}); });
  // Although somebody else saw it and went on.
  check_refused(store, [&] {
    store.update_results({&missing, 1});
    CHECK_THROWS_AS(store.result(1), Error);
    CHECK_THROWS_AS(store.result(1), Error);
  });
  check_refused(store, [&] { store.update_cursor(run + 1, {}); });
}

constexpr std::array kCases{
    ContractCase{"keeps users", keeps_users},
    ContractCase{"keeps hosts", keeps_hosts},
    ContractCase{"keeps device records", keeps_device_records},
    ContractCase{"forgets users", forgets_users},
    ContractCase{"keeps BOINC accounts", keeps_boinc_accounts},
    ContractCase{"keeps BOINC hosts", keeps_boinc_hosts},
    ContractCase{"keeps peers", keeps_peers},
    ContractCase{"keeps allowed peers", keeps_allowed_peers},
    ContractCase{"finds units by what vouches for them",
                 finds_units_by_what_vouches_for_them},
    ContractCase{"keeps runs and their cursors", keeps_runs_and_their_cursors},
    ContractCase{"keeps the progress of shards", keeps_the_progress_of_shards},
    ContractCase{"keeps workunits", keeps_workunits},
    ContractCase{"keeps sealed tasks", keeps_sealed_tasks},
    ContractCase{"finds live workunits", finds_live_workunits},
    ContractCase{"keeps results", keeps_results},
    ContractCase{"finds rejected and recent results",
                 finds_rejected_and_recent_results},
    ContractCase{"finds results by filters", finds_results_by_filters},
    ContractCase{"finds workunits by filters", finds_workunits_by_filters},
    ContractCase{"keeps ledgers", keeps_ledgers},
    ContractCase{"refuses ledgers that contradict themselves",
                 refuses_ledgers_that_contradict_themselves},
    ContractCase{"keeps evaluations", keeps_evaluations},
    ContractCase{"keeps orders", keeps_orders},
    ContractCase{"keeps events", keeps_events},
    ContractCase{"counts totals", counts_totals},
    ContractCase{"forgets what is rolled back", forgets_what_is_rolled_back},
    ContractCase{"refuses rows that contradict others",
                 refuses_rows_that_contradict_others},
    ContractCase{"restores everything that is rolled back",
                 restores_everything_that_is_rolled_back},
    ContractCase{"goes on after a refused row", goes_on_after_a_refused_row},
    ContractCase{"keeps what a row is made with",
                 keeps_what_a_row_is_made_with},
    ContractCase{"finds rows by what they are now",
                 finds_rows_by_what_they_are_now},
    ContractCase{"counts shares", counts_shares},
    ContractCase{"counts revoked units", counts_revoked_units},
    ContractCase{"refuses references to nothing",
                 refuses_references_to_nothing},
};

}  // namespace

std::span<const ContractCase> store_contract() {
  return kCases;
}

}  // namespace quorate::test
