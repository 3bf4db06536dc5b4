// Assimilators that overwrite each other's versions: what a replay makes of it.
#include <doctest/doctest.h>

#include "tests/support/temporary_folder.h"
#include "tests/validator/forged.h"
#include "validator/provenance.h"
#include "workunits/ledger/overwrites.h"

namespace quorate {
namespace {

// 13 entries. At the end versions 2, 5 and 8 are overwritten; 1 was, until 3
// was made of it.
SyntheticRun run_with_overwrites() {
  SyntheticRun run;              // entry 0
  run.assimilate_vc_asgd(0);     // 1: version 1
  run.overwrite_from(0, 0);      // 2: version 2, without 1
  run.overwrite_from(1, 0, 1);   // 3: version 3, of 1, host 1
  run.publish();                 // 4
  run.assimilate_vc_asgd(3);     // 5: version 4
  run.overwrite_from(3, 3, 2);   // 6: version 5, without 4, host 2
  run.overwrite_from(4, 3);      // 7: version 6, of 4
  run.publish();                 // 8
  run.assimilate_vc_asgd(3, 2);  // 9: version 7, host 2
  run.assimilate_vc_asgd(6);     // 10: version 8
  run.overwrite_from(7, 5, 1);   // 11: version 9, host 1
  run.publish();                 // 12
  return run;
}

void check_replay(const SyntheticRun& run) {
  const auto records = run.records();
  ReplayOptions
      little;  // as many past versions as fit, and the others in files
  test::TemporaryFolder folder;
  little.past_folder = folder.path();
  little.max_memory_bytes = 420;
  for (const ReplayOptions& options : {ReplayOptions{}, little}) {
    const ReplayReport report = replay(run.sources(records), options);
    CHECK(report.ledger.first_difference == "");
    CHECK(report.ledger.entries == records.size());
    CHECK(report.parameters == run.parameters_hash());
    CHECK(report.published == run.published_hash());
  }
}

std::string finding(const SyntheticRun& run) {
  const auto records = run.records();
  return replay(run.sources(records)).ledger.first_difference;
}

ResultAssimilated made_of(std::uint64_t version, std::uint64_t read) {
  ResultAssimilated entry;
  entry.version_before = version - 1;
  entry.version_after = version;
  if (read != version - 1) entry.read_version = read;
  return entry;
}

}  // namespace

TEST_CASE("a replay follows updates that overwrite others") {
  const SyntheticRun run = run_with_overwrites();
  check_replay(run);
  const auto records = run.records();
  const LedgerReport report = verify_ledger(run.sources(records));
  CHECK(report.ok());
  CHECK(report.results == 9);
  CHECK(report.overwritten == 3);
}

TEST_CASE("a revocation takes out what overwrote others, and nothing else") {
  SyntheticRun run = run_with_overwrites();
  run.revoke(1);
  run.publish();
  run.assimilate_vc_asgd(10);
  run.overwrite_from(10, 10);
  run.revoke(2);
  run.end();
  check_replay(run);
  const auto records = run.records();
  ReplayOptions without;
  without.without_hosts = {SyntheticRun::host_key(0)};
  const ReplayReport report = replay(run.sources(records), without);
  CHECK(report.parameters ==
        run.hash_of(run.without(without.without_hosts).parameters));
}

TEST_CASE("a published model is made of what was not overwritten") {
  const SyntheticRun run = run_with_overwrites();
  const auto records = run.records();
  std::size_t at = 0;
  auto next = [&]() -> std::optional<LedgerRecord> {
    if (at == records.size()) return std::nullopt;
    return records[at++];
  };
  const LedgerSources sources = run.sources(records);
  const Provenance found = provenance_of(next, sources.keys, 9);
  CHECK(found.results == 6);
  CHECK(found.overwritten == 3);
  CHECK(found.samples == 6 * 8);
}

TEST_CASE("what cannot have been overwritten is found") {
  auto finding_of = [](std::size_t entry, std::uint64_t read) {
    SyntheticRun run = run_with_overwrites();
    body<ResultAssimilated>(run, entry).read_version = read;
    return finding(run);
  };
  // another version than the one that it was made of
  check_finding(finding_of(11, 6), "ledger entry 12: version 9: parameters");
  // before a published version, or before the unit began
  check_finding(finding_of(5, 2), "entry 5: overwrites what came after");
  check_finding(finding_of(11, 5), "entry 11: overwrites what came after");
  // not before the newest
  check_finding(finding_of(11, 8), "read_version");
  SyntheticRun run;
  for (int i = 0; i < 17; ++i) run.assimilate_vc_asgd(0);
  run.overwrite_from(1, 0);
  check_finding(finding(run), "read_version");
  SyntheticRun rounds;
  rounds.assimilate_vc_asgd(0);
  rounds.assimilate_round(1);
  body<ResultAssimilated>(rounds, 2).base_version = 0;
  body<ResultAssimilated>(rounds, 2).staleness = 1;
  body<ResultAssimilated>(rounds, 2).read_version = 0;
  CHECK(finding(rounds) != "");
}

TEST_CASE("two assimilators that always overlap lose half, until one pauses") {
  Overwrites overwrites;
  for (std::uint64_t version = 1; version <= 8; ++version) {
    overwrites.take_in(made_of(version, version < 2 ? 0 : version - 2));
  }
  CHECK(overwrites.count(8) == 4);
  CHECK(overwrites.in(4) == std::vector<Overwrites::Range>{{3, 3}, {1, 1}});
  overwrites.take_in(made_of(9, 8));
  CHECK(overwrites.count(9) == 4);
  overwrites.take_out(8);  // made by nobody: it repeats the one before
  CHECK(overwrites.count(9) == 3);
}

}  // namespace quorate
