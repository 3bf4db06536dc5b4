// Rows with a different value in every field, their comparison field by field,
// and the steps that tests of a store share.
#pragma once

#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "server/store/store.h"

namespace quorate::test {

// Their entries are what their lines say.
void append_records(Store& store, RunKey run,
                    std::span<const LedgerRecord> records);

// n: rows of different n differ in every field but ids and references.
User sample_user(std::uint8_t n);
Host sample_host(std::uint8_t n, UserId user);
Run sample_run(std::uint8_t n);
RunCursor sample_cursor(std::uint8_t n);
ShardProgress sample_progress(std::uint8_t n, RunKey run);
Workunit sample_workunit(std::uint8_t n, RunKey run);
Result sample_result(std::uint8_t n, const Workunit& workunit);
Evaluation sample_evaluation(std::uint8_t n, RunKey run);
Event sample_event(std::uint8_t n);

// Whether all fields are equal. A field added to a row stops these from
// compiling until it is compared.
bool same(const User& a, const User& b);
bool same(const Host& a, const Host& b);
bool same(const DeviceRecord& a, const DeviceRecord& b);
bool same(const HostShare& a, const HostShare& b);
bool same(const BoincHost& a, const BoincHost& b);
bool same(const Run& a, const Run& b);
bool same(const RunCursor& a, const RunCursor& b);
bool same(const ShardProgress& a, const ShardProgress& b);
bool same(const RunTotals& a, const RunTotals& b);
bool same(const Workunit& a, const Workunit& b);
bool same(const Result& a, const Result& b);
bool same(const LedgerRecord& a, const LedgerRecord& b);
bool same(const Evaluation& a, const Evaluation& b);
bool same(const Event& a, const Event& b);

template <class Row>
bool same(const std::vector<Row>& a, const std::vector<Row>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

// Runs `changes` in a transaction of their own.
template <class Changes>
void change(Store& store, Changes&& changes) {
  store.begin();
  changes();
  store.commit();
}

// Runs `changes` in a transaction that it must make fail, at the commit at the
// latest.
template <class Changes>
void check_refused(Store& store, Changes&& changes) {
  store.begin();
  try {
    changes();
    store.commit();
    FAIL_CHECK("was not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
  }
  store.rollback();
}

// Insert a sample row within a transaction; what is returned has its id.
RunKey add_run(Store& store, std::uint8_t n);
HostId add_host(Store& store, std::uint8_t n);
Workunit add_workunit(Store& store, std::uint8_t n, RunKey run,
                      WorkunitState state = WorkunitState::open);
Result add_result(Store& store, Result result);

}  // namespace quorate::test
