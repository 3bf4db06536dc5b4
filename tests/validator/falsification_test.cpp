// One flipped bit anywhere in what a project keeps of a run is reported, by
// entry and, if it is an object's, by the object's name.
#include <algorithm>
#include <functional>
#include <set>
#include <type_traits>

#include <doctest/doctest.h>

#include "synthetic_run.h"
#include "validator/replay.h"

namespace quorate {
namespace {

// Some byte of every stretch of `stride`, another bit each time.
template <class Bytes>
void for_each_flip(Bytes& bytes, std::size_t stride,
                   const std::function<void()>& look) {
  for (std::size_t at = 0; at < bytes.size(); at += stride) {
    const std::size_t place =
        std::min(at + at / stride % stride, bytes.size() - 1);
    const auto bit = static_cast<std::uint8_t>(1U << (at / stride % 8));
    CAPTURE(place);
    auto& byte = bytes[place];
    byte = static_cast<std::remove_reference_t<decltype(byte)>>(byte ^ bit);
    look();
    byte = static_cast<std::remove_reference_t<decltype(byte)>>(byte ^ bit);
  }
}

void check_names(const LedgerReport& report, std::uint64_t entry,
                 const std::string& name) {
  CAPTURE(report.first_difference);
  CHECK_FALSE(report.ok());
  CHECK(report.entries == entry);
  const std::string place = "ledger entry " + std::to_string(entry) + ": ";
  CHECK(report.first_difference.rfind(place, 0) == 0);
  CHECK(report.first_difference.find(name) != std::string::npos);
}

}  // namespace

TEST_CASE("a flipped bit of a record is found at its entry") {
  const SyntheticRun run = run_with_revocations();
  auto records = run.records();
  for (std::size_t seq = 0; seq < records.size(); ++seq) {
    CAPTURE(seq);
    auto verify = [&] { return verify_ledger(run.sources(records)); };
    for_each_flip(records[seq].line, 24, [&] {
      check_names(verify(), seq, "its hash is not that of its line");
      check_names(replay(run.sources(records)).ledger, seq, "");
    });
    for_each_flip(records[seq].hash.bytes, 5, [&] {
      check_names(verify(), seq, "its hash is not that of its line");
    });
    for_each_flip(records[seq].signature.bytes, 7, [&] {
      check_names(verify(), seq, "its signature does not fit");
    });
  }
  CHECK(replay(run.sources(records)).ledger.ok());
}

TEST_CASE("a flipped bit of an update or a sealed task is found and named") {
  SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  for (const LedgerEntry& at : run.entries) {
    const auto* entry = std::get_if<ResultAssimilated>(&at.body);
    if (entry == nullptr) continue;
    CAPTURE(at.seq);
    for (const Hash& object : {entry->update, entry->workunit}) {
      for_each_flip(run.objects.at(object), 16, [&] {
        check_names(verify_ledger(run.sources(records)), at.seq, object.hex());
        check_names(replay(run.sources(records)).ledger, at.seq, object.hex());
      });
    }
  }
}

TEST_CASE("a flipped bit of a snapshot or a shard is found and named") {
  SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  std::set<Hash> seen;  // an object may be named again, later
  auto check_object = [&](std::uint64_t entry, const Hash& object) {
    if (object.is_zero() || !seen.insert(object).second) return;
    for_each_flip(run.objects.at(object), 16, [&] {
      check_names(verify_ledger(run.sources(records)), entry, object.hex());
    });
  };
  for (const LedgerEntry& at : run.entries) {
    CAPTURE(at.seq);
    if (const auto* created = std::get_if<RunCreated>(&at.body)) {
      check_object(at.seq, created->initial);
      check_object(at.seq, created->shards.front());
    } else if (const auto* one = std::get_if<SnapshotPublished>(&at.body)) {
      check_object(at.seq, one->parameters);
      check_object(at.seq, one->published);
      check_object(at.seq, one->rule_state);
    } else if (const auto* revoked = std::get_if<Revoked>(&at.body)) {
      check_object(at.seq, revoked->parameters);
    } else if (const auto* end = std::get_if<RunEnded>(&at.body)) {
      check_object(at.seq, end->parameters);
      check_object(at.seq, end->published);
    }
  }
  CHECK(seen.size() >= 10);
  CHECK(verify_ledger(run.sources(records)).ok());
}

}  // namespace quorate
