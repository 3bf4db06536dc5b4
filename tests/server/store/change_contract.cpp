#include "tests/server/store/change_contract.h"

#include <array>
#include <variant>

#include <doctest/doctest.h>

#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate::test {
namespace {

// A host's merged unit in a run, and a row of everything else.
struct Scene {
  explicit Scene(Store& to) : store(to) {
    change(store, [&] {
      run = add_run(store, 1);
      user = store.insert_user(sample_user(1));
      host = add_host(store, 1);
      unit = add_workunit(store, 1, run);
      Result valid = sample_result(1, unit);
      valid.host = host;
      valid.validate_state = ValidateState::valid;
      result = add_result(store, valid);
      entries = sample_entries();
      std::get<ResultAssimilated>(entries.at(1).body).result = result.id;
      append(0, 2);
      unit.state = WorkunitState::assimilated;
      unit.canonical_result = result.id;
      store.update_workunits({&unit, 1});
      add_the_rest(1);
    });
  }

  void append(std::size_t from, std::size_t count) {
    const std::vector<LedgerRecord> all = chain(entries);
    append_records(store, run, std::span(all).subspan(from, count));
  }

  // A row of each of the simpler kinds.
  void add_the_rest(std::uint8_t n) {
    store.replace_device_records(std::array{DeviceRecord{host, "cpu", 1, n}});
    store.replace_device_records(std::array{DeviceRecord{host, "gpu", n, 1}});
    store.replace_boinc_hosts(std::array{BoincHost{host, "f00", n}});
    store.update_cursor(run, sample_cursor(n));
    store.replace_shard_progress({run, 0, 5, n});
    store.replace_shard_progress({run, n, 5, n});
    store.insert_evaluation(sample_evaluation(n, run));
    Evaluation again = sample_evaluation(n, run);
    again.version = 0;
    store.insert_evaluation(again);
    store.insert_events(std::array{sample_event(n)});
  }

  // Changes and adds to everything.
  void change_all() {
    User other = sample_user(2);
    store.insert_user(other);
    other = sample_user(3);
    other.id = user;
    store.update_users({&other, 1});
    store.insert_boinc_account({user, "a@b.c", {}, {}});
    add_host(store, 2);
    Host moved = sample_host(3, user);
    moved.id = host;
    store.update_hosts({&moved, 1});
    add_run(store, 2);
    Run paused = sample_run(3);
    paused.key = run;
    store.update_run(paused);
    add_the_rest(2);

    Workunit fresh = add_workunit(store, 2, run);
    store.insert_sealed_tasks(std::array{SealedTask{fresh.id, {1}}});
    Result more = sample_result(2, fresh);
    more.host = host;
    more.validate_state = ValidateState::valid;
    more = add_result(store, more);
    std::get<ResultAssimilated>(entries.at(2).body).result = more.id;
    entries.at(3) = sample_entries().at(4);  // a snapshot
    entries.at(3).seq = 3;
    append(2, 2);
    Result withdrawn = result;
    withdrawn.validate_state = ValidateState::invalid;
    store.update_results({&withdrawn, 1});
    Workunit doubted = unit;
    doubted.check = UnitCheck::unsound;
    store.update_workunits({&doubted, 1});
    doubted.check = UnitCheck::revoked;
    store.update_workunits({&doubted, 1});
  }

  Store& store;
  RunKey run = 0;
  UserId user = 0;
  HostId host = 0;
  Workunit unit;
  Result result;
  std::vector<LedgerEntry> entries;
};

void check_as_it_was(Scene& scene, Store& store) {
  const RunKey run = scene.run;
  REQUIRE(store.users().size() == 2);
  User user = sample_user(1);
  user.id = scene.user;
  CHECK(same(store.users().at(1), user));
  CHECK(same(store.user_by_key(user.key).value(), user));
  CHECK_FALSE(store.user_by_key(sample_user(2).key));
  CHECK_FALSE(store.user_by_key(sample_user(3).key));
  CHECK(store.boinc_accounts().empty());
  Host host = sample_host(1, kHouseUser);
  host.id = scene.host;
  CHECK(same(store.hosts(), {host}));
  CHECK(same(store.host_by_key(host.key).value(), host));
  CHECK_FALSE(store.host_by_key(sample_host(3, 1).key));

  REQUIRE(store.runs().size() == 1);
  Run as_made = sample_run(1);
  as_made.key = run;
  CHECK(same(store.runs().at(0), as_made));
  CHECK(same(store.cursor(run), sample_cursor(1)));
  CHECK(same(store.shard_progress(run, 5),
             {ShardProgress{run, 0, 5, 1}, ShardProgress{run, 1, 5, 1}}));
  Evaluation first = sample_evaluation(1, run);
  first.version = 0;
  CHECK(same(store.evaluations(run), {first, sample_evaluation(1, run)}));
  CHECK(store.events({}).size() == 1);

  CHECK(same(store.device_records(), {DeviceRecord{scene.host, "cpu", 1, 1},
                                      DeviceRecord{scene.host, "gpu", 1, 1}}));
  CHECK(same(store.boinc_hosts(), {BoincHost{scene.host, "f00", 1}}));
  CHECK(same(store.shares_of(scene.host), {HostShare{run, 1, 1, 1}}));

  CHECK(same(store.workunits({run}, {}), {scene.unit}));
  CHECK(store.workunits_to_check(run).empty());
  CHECK(same(store.workunits_with(run, scene.host, false), {scene.unit}));
  CHECK_FALSE(store.sealed_task(sample_workunit(2, run).object));
  CHECK(same(store.results({run}, {}), {scene.result}));
  CHECK(same(store.results_of({&scene.unit.id, 1}), {scene.result}));
  CHECK(store.rejected_results(run, {}).empty());
  CHECK(same(store.totals(run), RunTotals{.results_assimilated = 1,
                                          .results_valid = 1,
                                          .units_made = 1,
                                          .units_closed = 1,
                                          .samples = scene.unit.samples}));
  CHECK(store.ledger(run, 0, 10).size() == 2);
  CHECK(store.last_record(run)->seq == 1);
  CHECK(store.last_snapshot_record(run)->seq == 0);
}

}  // namespace

void restores_everything_that_is_rolled_back(Store& store) {
  Scene scene(store);
  check_as_it_was(scene, store);
  for (int time = 0; time < 2; ++time) {  // it can be done again, and undone
    store.begin();
    scene.change_all();
    CHECK(store.users().size() == 3);
    CHECK(store.totals(scene.run).results_revoked == 1);
    CHECK(store.last_snapshot_record(scene.run)->seq == 3);
    store.rollback();
    check_as_it_was(scene, store);
  }
  change(store, [&] { scene.change_all(); });
  CHECK(store.workunits({scene.run}, {}).size() == 2);
  CHECK(store.last_record(scene.run)->seq == 3);
  CHECK_MESSAGE(store.events({}).at(0).id == 2, "as if it was the first time");
}

void goes_on_after_a_refused_row(Store& store) {
  Scene scene(store);
  change(store, [&] {
    const User added = sample_user(2);
    store.insert_user(added);
    CHECK_THROWS_AS(store.insert_user(added), Error);
    CHECK_THROWS_AS(add_host(store, 1), Error);
    User taken = sample_user(1);  // another's key
    taken.id = scene.user + 1;
    CHECK_THROWS_AS(store.update_users({&taken, 1}), Error);
    store.insert_boinc_account({scene.user, "a@b.c", {}, {}});
    CHECK_THROWS_AS(
        store.insert_boinc_account({scene.user + 1, "a@b.c", {}, {}}), Error);
    CHECK_THROWS_AS(scene.append(0, 1), Error);
  });
  CHECK(store.users().size() == 3);
  CHECK(same(store.user_by_key(sample_user(1).key).value(),
             store.user(scene.user).value()));
  CHECK(store.hosts().size() == 1);
  CHECK(store.boinc_accounts().size() == 1);
  CHECK(store.ledger(scene.run, 0, 10).size() == 2);
}

void keeps_what_a_row_is_made_with(Store& store) {
  Scene scene(store);
  change(store, [&] {
    const RunKey other = add_run(store, 2);
    Workunit unit = scene.unit;
    unit.run = other;
    unit.object = filled<Hash>(99);
    store.update_workunits({&unit, 1});
    Result result = scene.result;
    result.run = other;
    result.workunit = 99;
    store.update_results({&result, 1});
  });
  CHECK(same(store.workunits({scene.run}, {}), {scene.unit}));
  CHECK(same(store.results_of({&scene.unit.id, 1}), {scene.result}));
  CHECK(store.totals(scene.run).units_made == 1);
}

void finds_rows_by_what_they_are_now(Store& store) {
  Scene scene(store);
  auto check_unit = [&](UnitCheck check) {
    change(store, [&] {
      scene.unit.check = check;
      store.update_workunits({&scene.unit, 1});
    });
    return store.workunits_to_check(scene.run).size();
  };
  CHECK(check_unit(UnitCheck::recheck) == 1);
  CHECK(check_unit(UnitCheck::unsound) == 1);
  CHECK(check_unit(UnitCheck::sound) == 0);

  auto unverified = [&](WorkunitState state, UnitCheck check, bool is) {
    change(store, [&] {
      scene.unit.state = state;
      scene.unit.check = check;
      scene.unit.is_unverified = is;
      store.update_workunits({&scene.unit, 1});
    });
    const auto found = store.workunits_unverified(scene.run);
    if (!found.empty()) CHECK(same(found, {scene.unit}));
    return found.size();
  };
  using enum WorkunitState;
  CHECK(unverified(validated, UnitCheck::none, true) == 0);
  CHECK(unverified(assimilated, UnitCheck::none, true) == 1);
  CHECK(unverified(assimilated, UnitCheck::sound, true) == 1);
  CHECK(unverified(assimilated, UnitCheck::revoked, true) == 0);
  CHECK(unverified(assimilated, UnitCheck::none, false) == 0);

  auto judge = [&](ValidateState verdict, HostId host) {
    change(store, [&] {
      scene.result.validate_state = verdict;
      scene.result.host = host;
      store.update_results({&scene.result, 1});
    });
    return store.workunits_with(scene.run, scene.host, false).size();
  };
  CHECK(store.workunits_with(scene.run, scene.host, false).size() == 1);
  CHECK(judge(ValidateState::invalid, scene.host) == 0);
  CHECK(store.rejected_results(scene.run, {}).size() == 1);
  CHECK(judge(ValidateState::valid, scene.host) == 1);
  CHECK(store.rejected_results(scene.run, {}).empty());
  CHECK(judge(ValidateState::valid, 0) == 0);

  User user = sample_user(1);
  user.id = scene.user;
  change(store, [&] {
    user.key = filled<PublicKey>(77);
    store.update_users({&user, 1});
  });
  CHECK(store.user_by_key(user.key)->id == scene.user);
  CHECK_FALSE(store.user_by_key(sample_user(1).key));
}

void counts_shares(Store& store) {
  RunKey run = 0;
  HostId host = 0;
  Workunit last;
  std::vector<Result> results;
  change(store, [&] {
    run = add_run(store, 1);
    host = add_host(store, 1);
    std::vector<LedgerEntry> entries = sample_entries();
    for (std::uint8_t n = 1; n <= 3; ++n) {
      last = add_workunit(store, n, run, WorkunitState::assimilated);
      Result result = sample_result(n, last);
      result.host = host;
      result.validate_state =
          n == 2 ? ValidateState::invalid : ValidateState::valid;
      results.push_back(add_result(store, result));
      std::get<ResultAssimilated>(entries.at(n).body).result =
          results.back().id;
    }
    append_records(store, run, chain(entries));
  });
  CHECK(same(store.shares_of(host), {HostShare{run, 2, 1, 2}}));
  CHECK(store.shares_of(host + 1).empty());

  auto judge = [&](ValidateState verdict) {
    change(store, [&] {
      results[2].validate_state = verdict;
      store.update_results({&results[2], 1});
    });
  };
  judge(ValidateState::invalid);  // withdrawn
  CHECK(same(store.shares_of(host), {HostShare{run, 1, 1, 2}}));
  judge(ValidateState::valid);  // which the ledger does not say
  CHECK(same(store.shares_of(host), {HostShare{run, 1, 1, 2}}));
  change(store, [&] {
    last.state = WorkunitState::cancelled;
    store.update_workunits({&last, 1});
  });
  judge(ValidateState::invalid);  // of what is no part of the model
  CHECK(same(store.shares_of(host), {HostShare{run, 1, 1, 2}}));
}

void counts_revoked_units(Store& store) {
  Scene scene(store);
  for (UnitCheck check :
       {UnitCheck::recheck, UnitCheck::unsound, UnitCheck::revoked}) {
    CHECK(store.totals(scene.run).results_revoked == 0);
    change(store, [&] {
      scene.unit.check = check;
      store.update_workunits({&scene.unit, 1});
    });
  }
  CHECK(same(store.totals(scene.run), RunTotals{.results_valid = 1,
                                                .units_made = 1,
                                                .units_closed = 1,
                                                .results_revoked = 1}));
}

void refuses_references_to_nothing(Store& store) {
  Scene scene(store);
  const HostId nobody = 99;
  User user = sample_user(5);
  user.id = nobody;
  check_refused(store, [&] { store.update_users({&user, 1}); });
  Host host = sample_host(5, kHouseUser);
  host.id = nobody;
  check_refused(store, [&] { store.update_hosts({&host, 1}); });
  host.id = scene.host;
  host.user_id = nobody;
  check_refused(store, [&] { store.update_hosts({&host, 1}); });
  check_refused(store, [&] {
    store.replace_device_records(std::array{DeviceRecord{nobody, "", 1, 1}});
  });
  check_refused(store, [&] {
    store.insert_boinc_account({nobody, "", {}, {}});
  });
  check_refused(store, [&] {
    store.insert_boinc_account({scene.user, "", {}, {}});
    store.insert_boinc_account({scene.user, "", {}, {}});
  });
  check_refused(store, [&] {
    store.replace_boinc_hosts(std::array{BoincHost{nobody, "", 1}});
  });
  Run run = sample_run(5);
  run.key = nobody;
  check_refused(store, [&] { store.update_run(run); });
  check_refused(store, [&] {
    store.replace_shard_progress({nobody, 0, 0, 0});
  });
  check_refused(store,
                [&] { store.insert_evaluation(sample_evaluation(1, nobody)); });
  Workunit unit = scene.unit;
  unit.id = nobody;
  check_refused(store, [&] { store.update_workunits({&unit, 1}); });
  unit = scene.unit;
  unit.canonical_result = nobody;
  check_refused(store, [&] { store.update_workunits({&unit, 1}); });
  check_refused(store, [&] {
    store.insert_sealed_tasks(std::array{SealedTask{nobody, {}}});
  });
  check_refused(store, [&] {
    store.insert_sealed_tasks(std::array{SealedTask{scene.unit.id, {}},
                                         SealedTask{scene.unit.id, {}}});
  });
  Event event = sample_event(1);
  event.host = nobody;
  check_refused(store, [&] { store.insert_events({&event, 1}); });
  event.host = 0;
  event.run = nobody;
  check_refused(store, [&] { store.insert_events({&event, 1}); });
  Result result = scene.result;
  result.user = nobody;
  check_refused(store, [&] { store.update_results({&result, 1}); });
  check_as_it_was(scene, store);
}

}  // namespace quorate::test
