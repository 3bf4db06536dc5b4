#include "tests/server/store/ledger_contract.h"

#include <span>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate::test {
namespace {

// A ledger whose entries about results are about these.
std::vector<LedgerRecord> ledger_about(const std::vector<Result>& results) {
  std::vector<LedgerEntry> entries = sample_entries();
  for (std::size_t i = 0; i < 3; ++i) {
    std::get<ResultAssimilated>(entries.at(i + 1).body).result =
        results.at(i).id;
  }
  return chain(entries);
}

std::vector<Result> add_three_results(Store& store, RunKey run) {
  std::vector<Result> results;
  Workunit unit = add_workunit(store, 1, run);
  for (std::uint8_t n = 1; n <= 3; ++n) {
    results.push_back(add_result(store, sample_result(n, unit)));
  }
  return results;
}

}  // namespace

void keeps_ledgers(Store& store) {
  RunKey run = 0;
  RunKey other = 0;
  std::vector<Result> results;
  change(store, [&] {
    run = add_run(store, 1);
    other = add_run(store, 2);
    results = add_three_results(store, run);
  });
  const std::vector<LedgerRecord> all = ledger_about(results);
  CHECK_FALSE(store.last_record(run));
  CHECK_FALSE(store.last_snapshot_record(run));
  CHECK(store.ledger(run, 0, 10).empty());

  std::span<const LedgerRecord> records(all);
  change(store, [&] {
    append_records(store, run, records.first(1));
    append_records(store, run, records.subspan(1, 3));
    append_records(store, other, records.first(1));
  });
  CHECK(same(store.last_record(run).value(), all[3]));
  CHECK(same(store.last_snapshot_record(run).value(), all[0]));
  CHECK(same(store.ledger_record_of(results[1].id).value(), all[2]));
  CHECK_FALSE(store.ledger_record_of(results[2].id + 1));
  change(store, [&] { append_records(store, run, records.subspan(4)); });
  CHECK(same(store.last_record(run).value(), all[5]));
  CHECK(same(store.last_snapshot_record(run).value(), all[4]));
  CHECK(same(store.ledger(run, 0, UINT64_MAX), all));
  CHECK(same(store.ledger(run, 2, 2), {all[2], all[3]}));
  CHECK(store.ledger(run, 6, 10).empty());
  CHECK(same(store.ledger(other, 0, 10), {all[0]}));
}

void refuses_ledgers_that_contradict_themselves(Store& store) {
  RunKey run = 0;
  RunKey other = 0;
  std::vector<Result> results;
  change(store, [&] {
    run = add_run(store, 1);
    other = add_run(store, 2);
    results = add_three_results(store, run);
  });
  std::vector<LedgerRecord> good = ledger_about(results);
  std::span<const LedgerRecord> records(good);
  auto append = [&](const LedgerRecord& record) {
    append_records(store, run, {&record, 1});
  };
  check_refused(store, [&] { append(good[1]); });  // not the first
  change(store, [&] { append_records(store, run, records.first(2)); });
  check_refused(store, [&] { append(good[1]); });  // again
  check_refused(store, [&] { append(good[3]); });  // a gap
  LedgerRecord renumbered = good[3];
  renumbered.seq = 2;
  check_refused(store, [&] { append(renumbered); });
  renumbered = good[2];
  renumbered.seq = 3;
  check_refused(store, [&] { append(renumbered); });
  LedgerRecord misnamed = good[2];
  misnamed.kind = "snapshot";
  check_refused(store, [&] { append(misnamed); });

  // A result that is in a ledger already, in its own or another; none; one
  // that does not exist.
  for (ResultId id : {results[0].id, ResultId{0}, results[2].id + 1}) {
    results[1].id = id;
    check_refused(store, [&] { append(ledger_about(results)[2]); });
    check_refused(store, [&] {
      append_records(store, other, std::span(good).first(1));
      LedgerRecord record = ledger_about(results)[2];
      append_records(store, other, {&record, 1});
    });
  }
  check_refused(store, [&] { append_records(store, other, records.first(2)); });
  CHECK(same(store.ledger(run, 0, 10), {good[0], good[1]}));
  CHECK(store.ledger(other, 0, 10).empty());
}

void keeps_orders(Store& store) {
  CHECK(store.orders(1, 10).empty());
  CHECK(store.orders_made() == 0);
  CHECK_FALSE(store.last_order());
  auto order = [](std::uint64_t seq) {
    const auto byte = static_cast<std::uint8_t>(seq);
    return OrderRecord{seq, "line " + std::to_string(seq), filled<Hash>(byte),
                       filled<Signature>(byte)};
  };
  change(store, [&] {
    for (std::uint64_t seq : {1U, 2U, 3U}) store.append_order(order(seq));
  });
  CHECK(store.orders_made() == 3);
  CHECK(store.last_order().value().line == "line 3");
  const std::vector<OrderRecord> found = store.orders(2, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].seq == 2);
  CHECK(found[0].line == "line 2");
  CHECK(found[0].hash == order(2).hash);
  CHECK(found[0].signature == order(2).signature);
  CHECK(store.orders(2, 10).size() == 2);
  store.begin();
  CHECK_THROWS_AS(store.append_order(order(3)), Error);
  store.rollback();
  CHECK(store.orders_made() == 3);
}

}  // namespace quorate::test
