#include "validator/rebuild.h"

#include <limits>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/validator/forged.h"

namespace quorate {
namespace {

// Of the second revocation of run_with_revocations().
constexpr std::uint64_t kSecond = 14;

std::set<ResultId> revoked_by(const Revoked& entry) {
  return {entry.results.begin(), entry.results.end()};
}

// What the entries from `first` on have as base, and is a version before.
LastUses uses_from(const SyntheticRun& run, std::uint64_t first) {
  LastUses uses;
  for (std::uint64_t seq = first; seq < run.entries.size(); ++seq) {
    note_uses(uses, run.entries.at(seq));
  }
  for (auto& [base, use] : uses) {
    use.seq = std::numeric_limits<std::uint64_t>::max();
  }
  return uses;
}

TEST_CASE("what a server rebuilds for a revocation is what a replay expects") {
  const SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  const auto& second = std::get<Revoked>(run.entries.at(kSecond).body);
  Rebuild rebuild(sources, revoked_by(second), ReplayOptions{});
  rebuild.go_on(kSecond);
  ModelState state = rebuild.take_model();
  CHECK(state.version() == 9);
  CHECK(run.hash_of(state.parameters()) == second.parameters);
  state.revoke(second);
  CHECK(state.version() == 10);
  CHECK_THROWS_AS(state.revoke(second), Error);
}

TEST_CASE("a rebuilding that follows a run arrives at the same model") {
  SyntheticRun run;
  run.assimilate_vc_asgd(0, 1);
  run.assimilate_vc_asgd(0, 2);
  run.assimilate_vc_asgd(1, 1);
  run.publish();
  run.assimilate_vc_asgd(0, 2);
  run.assimilate_vc_asgd(3, 3);
  run.assimilate_vc_asgd(2, 2);
  const std::uint64_t entries = run.entries.size();
  run.revoke(1);
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  const auto& revoked = std::get<Revoked>(run.entries.at(entries).body);
  for (std::uint64_t first = 1; first < entries; ++first) {
    for (std::uint64_t then = first; then < entries; ++then) {
      CAPTURE(first);
      CAPTURE(then);
      Rebuild rebuild(sources, revoked_by(revoked), ReplayOptions{});
      rebuild.go_on(first, uses_from(run, first));
      rebuild.go_on(then, uses_from(run, then));
      rebuild.go_on(entries);
      CHECK(run.hash_of(rebuild.take_model().parameters()) ==
            revoked.parameters);
    }
  }
}

TEST_CASE("a revocation is followed only if it is known from the beginning") {
  const SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  Rebuild rebuild(sources, {}, ReplayOptions{});
  rebuild.go_on(5, uses_from(run, 5));
  try {
    rebuild.go_on(kSecond);
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    check_finding(error.what(), "ledger entry 9: rebuild: a revocation");
  }
}

TEST_CASE("a base that was not named is missed, not made up") {
  SyntheticRun run;
  run.assimilate_vc_asgd(0, 1);
  run.assimilate_vc_asgd(1, 1);
  run.assimilate_vc_asgd(0, 2);
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  Rebuild rebuild(sources, {}, ReplayOptions{});
  rebuild.go_on(3);
  try {
    rebuild.go_on(4);
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    check_finding(error.what(), "there is no such version");
  }
}

TEST_CASE("only what is in the model, once, is taken out of it") {
  const SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  // 1009 comes after these entries, 1001 is revoked by one of them.
  for (const ResultId wrong : {ResultId{1009}, ResultId{1001}, ResultId{7}}) {
    Rebuild rebuild(sources, {wrong}, ReplayOptions{});
    rebuild.go_on(13);
    try {
      rebuild.take_model();
      FAIL_CHECK("not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::corrupt);
      check_finding(error.what(), "it cannot be revoked");
    }
  }
}

TEST_CASE("a rebuilding can be given up") {
  const SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  LedgerSources sources = run.sources(records);
  sources.progress = [](std::uint64_t entries) {
    if (entries == 5) throw Error(ErrorKind::unavailable, "stopped");
  };
  Rebuild rebuild(sources, {}, ReplayOptions{});
  CHECK_THROWS_WITH_AS(rebuild.go_on(kSecond), "stopped", Error);
}

}  // namespace
}  // namespace quorate
