#include "tests/server/store/filter_contract.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate::test {
namespace {

// A signed header that says: this device.
SignedHeader header_of(const std::string& device) {
  ResultHeader header;
  header.claim.update = filled<Hash>(1);
  header.device = device;
  return {encode(header), {}};
}

struct Filtered {
  RunKey run = 0, other = 0;
  HostId ann = 0, bob = 0;
  std::vector<Workunit> units;
  std::vector<Result> results;
};

// Three units and five results that differ in what can be asked for.
Filtered filtered_rows(Store& store) {
  Filtered rows;
  change(store, [&] {
    rows.run = add_run(store, 1);
    rows.other = add_run(store, 2);
    rows.ann = add_host(store, 1);
    rows.bob = add_host(store, 2);
    std::uint8_t n = 0;
    auto unit = [&](RunKey run, WorkunitState state, UnitCheck check) {
      Workunit row = sample_workunit(++n, run);
      row.state = state;
      row.check = check;
      row.created = 1000 * n;
      row.judged = row.closed = row.checked = 0;
      row.id = store.insert_workunits({&row, 1}).at(0);
      rows.units.push_back(row);
    };
    unit(rows.run, WorkunitState::open, UnitCheck::none);
    unit(rows.run, WorkunitState::assimilated, UnitCheck::sound);
    unit(rows.other, WorkunitState::open, UnitCheck::none);
    auto result = [&](std::size_t of, HostId host, const char* device,
                      ValidateState verdict) {
      Result row = sample_result(++n, rows.units[of]);
      row.host = host;
      row.user = host == 0 ? 0 : kHouseUser;
      row.outcome = ResultOutcome::success;
      row.validate_state = verdict;
      row.header = {};
      if (*device != 0) row.header = header_of(device);
      row.sent = 1000 * n;
      row.received = row.sent + 10;
      rows.results.push_back(add_result(store, row));
    };
    result(0, rows.ann, "cpu:avx512", ValidateState::init);
    result(0, rows.bob, "cuda:0 NVIDIA A100", ValidateState::valid);
    result(1, rows.ann, "cpu:avx2", ValidateState::invalid);
    result(1, 0, "", ValidateState::inconclusive);
    rows.results.back().sent = rows.results.back().received = 0;
    rows.results.back().server_state = ServerState::unsent;
    store.update_results({&rows.results.back(), 1});
    result(2, rows.bob, "cpu:avx2", ValidateState::valid);
  });
  return rows;
}

}  // namespace

void finds_results_by_filters(Store& store) {
  const Filtered rows = filtered_rows(store);
  auto expect = [&](const ResultFilter& filter,
                    std::vector<std::size_t> wanted) {
    std::vector<Result> all;
    for (std::size_t i : wanted) all.push_back(rows.results[i]);
    CHECK(same(store.results(filter, {}), all));
    CHECK(store.count(filter) == all.size());
    if (all.empty()) return;
    CHECK(same(store.results(filter, {.limit = 1}), {all[0]}));
    all.erase(all.begin());
    CHECK(same(store.results(filter, {.before_id = rows.results[wanted[0]].id}),
               all));
  };
  expect({}, {4, 3, 2, 1, 0});
  expect({.run = rows.run}, {3, 2, 1, 0});
  expect({.run = rows.other + 1}, {});
  expect({.host = rows.ann}, {2, 0});
  expect({.run = rows.other, .host = rows.bob}, {4});
  expect({.user = kHouseUser}, {4, 2, 1, 0});
  expect({.user = kHouseUser + 1}, {});
  expect({.server_state = ServerState::unsent}, {3});
  expect({.outcome = ResultOutcome::no_reply}, {});
  expect({.validate_state = ValidateState::valid}, {4, 1});
  expect({.is_waiting = true}, {3, 0});
  expect({.since = rows.results[2].received}, {4, 2});
  expect({.since = rows.results[2].received + 1}, {4});
  expect({.device = "AVX2"}, {4, 2});
  expect({.device = "a100"}, {1});
  expect({.host = rows.ann, .device = "cpu:"}, {2, 0});
  expect({.device = "rocm"}, {});
}

void finds_workunits_by_filters(Store& store) {
  const Filtered rows = filtered_rows(store);
  auto expect = [&](const WorkunitFilter& filter,
                    std::vector<std::size_t> wanted) {
    std::vector<Workunit> all;
    for (std::size_t i : wanted) all.push_back(rows.units[i]);
    CHECK(same(store.workunits(filter, {}), all));
    CHECK(store.count(filter) == all.size());
  };
  expect({}, {2, 1, 0});
  expect({.run = rows.run}, {1, 0});
  expect({.state = WorkunitState::open}, {2, 0});
  expect({.run = rows.other, .state = WorkunitState::open}, {2});
  expect({.check = UnitCheck::sound}, {1});
  expect({.since = rows.units[1].created}, {2, 1});
  expect({.since = rows.units[1].created + 1}, {2});
  Workunit checked = rows.units[0];
  checked.checked = 1'000'000;
  change(store, [&] { store.update_workunits({&checked, 1}); });
  CHECK(same(store.workunits({.since = 1'000'000}, {}), {checked}));
  change(store, [&] { store.update_workunits({&rows.units[0], 1}); });
  expect({.host = rows.ann}, {1, 0});
  expect({.host = rows.ann, .state = WorkunitState::open}, {0});
  expect({.user = kHouseUser}, {2, 1, 0});
  expect({.device = "avx2"}, {2, 1});
  // One result must have both.
  expect({.host = rows.ann, .device = "cuda"}, {});
}

}  // namespace quorate::test
