#include "validator/replay.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/validator/forged.h"

namespace quorate {
namespace {

// 20 entries: results one by one with stale bases, rounds, a change of rule in
// between, snapshots in the middle of a round and not.
SyntheticRun mixed_run() {
  SyntheticRun run;                // entry 0
  run.assimilate_vc_asgd(0);       // 1: version 1
  run.assimilate_vc_asgd(0, 1);    // 2: version 2, host 1, staleness 1
  run.assimilate_vc_asgd(2);       // 3: version 3
  run.publish();                   // 4
  run.assimilate_vc_asgd(0);       // 5: version 4, staleness 3
  run.assimilate_vc_asgd(2);       // 6: version 5, staleness 2
  run.assimilate_round(3, 1);      // 7, 8, 9: version 6, the first by host 1
  run.publish();                   // 10
  run.assimilate_round(4);         // 11 to 14: version 7
  run.assimilate_vc_asgd(5);       // 15: version 8, staleness 2
  run.assimilate_vc_asgd(8);       // 16: version 9
  run.assimilate_in_open_round();  // 17
  run.publish();                   // 18
  run.end();                       // 19
  return run;
}

ResultId result_of(const std::vector<LedgerRecord>& records,
                   const PublicKey& host) {
  for (const LedgerRecord& record : records) {
    const LedgerEntry entry = parse_entry(record.line);
    const auto* result = std::get_if<ResultAssimilated>(&entry.body);
    if (result != nullptr && result->host == host) return result->result;
  }
  return 0;
}

TEST_CASE("a replay rebuilds the model bit for bit") {
  const SyntheticRun run = mixed_run();
  const auto records = run.records();
  REQUIRE(records.size() == 20);
  LedgerSources sources = run.sources(records);
  std::uint64_t progress = 0;
  sources.progress = [&](std::uint64_t entries) { progress = entries; };

  const ReplayReport report = replay(sources);
  CHECK(report.ledger.first_difference == "");
  CHECK(report.ledger.ok());
  CHECK(report.ledger.entries == 20);
  CHECK(report.ledger.results == 15);
  CHECK(report.left_out == 0);
  CHECK(progress == 20);
  REQUIRE(report.model.has_value());
  CHECK(report.model->version() == 9);
  CHECK(report.parameters == run.parameters_hash());
  CHECK(report.published == run.published_hash());

  const LedgerReport verified = verify_ledger(run.sources(records));
  CHECK(verified.first_difference == "");
  CHECK(verified.entries == 20);
  CHECK(verified.results == 15);
}

TEST_CASE("a run that goes on replays up to what is there") {
  SyntheticRun run;
  run.assimilate_vc_asgd(0);
  const auto records = run.records();
  const ReplayReport report = replay(run.sources(records));
  CHECK(report.ledger.ok());
  CHECK(report.parameters == run.parameters_hash());
}

TEST_CASE("a ledger that grows during the replay is no difference") {
  SyntheticRun run;
  run.assimilate_vc_asgd(0);
  run.assimilate_vc_asgd(0);
  auto records = run.records();
  run.assimilate_vc_asgd(0);
  const auto grown = run.records();
  // given two more records once the end was seen
  LedgerSources sources = run.sources(records);
  const auto first_pass = sources.records;
  sources.records = [&](std::uint64_t seq) {
    auto record = first_pass(seq);
    if (!record) records = grown;
    return record;
  };
  const ReplayReport report = replay(sources);
  CHECK(report.ledger.first_difference == "");
  CHECK(report.ledger.entries == 3);
  CHECK(report.model->version() == 2);
}

TEST_CASE("the ledger file cannot be changed without the key") {
  const SyntheticRun run = mixed_run();
  auto records = run.records();
  SUBCASE("a line") {
    records[5].line.replace(records[5].line.find("\"samples\":8"), 11,
                            "\"samples\":9");
  }
  SUBCASE("a line and its hash") {
    records[5].line.replace(records[5].line.find("\"samples\":8"), 11,
                            "\"samples\":9");
    records[5].hash = sha256(as_bytes(records[5].line));
  }
  SUBCASE("an entry left out") {
    records.erase(records.begin() + 5);
  }
  SUBCASE("two entries swapped") {
    std::swap(records[5], records[6]);
  }
  SUBCASE("a signature") {
    records[5].signature.bytes[7] ^= 1;
  }
  for (const LedgerReport& report : {verify_ledger(run.sources(records)),
                                     replay(run.sources(records)).ledger}) {
    CHECK_FALSE(report.ok());
    CHECK(report.entries == 5);
    check_finding(report.first_difference, "entry 5");
  }
}

TEST_CASE("an empty ledger is no run") {
  const SyntheticRun run;
  const std::vector<LedgerRecord> none;
  CHECK_FALSE(verify_ledger(run.sources(none)).ok());
  CHECK_FALSE(replay(run.sources(none)).ledger.ok());
}

TEST_CASE("missing and changed objects are named") {
  SyntheticRun run = mixed_run();
  const Hash update = body<ResultAssimilated>(run, 6).update;
  const Hash task = body<ResultAssimilated>(run, 6).workunit;
  const char* expected = nullptr;
  SUBCASE("update missing") {
    run.objects.erase(update);
    expected = "missing from the store";
  }
  SUBCASE("update changed") {
    run.objects.at(update).back() ^= 1;
    expected = "its bytes have another hash";
  }
  SUBCASE("workunit changed") {
    run.objects.at(task).front() ^= 1;
    expected = "its bytes have another hash";
  }
  const auto records = run.records();
  for (const LedgerReport& report : {verify_ledger(run.sources(records)),
                                     replay(run.sources(records)).ledger}) {
    check_finding(report.first_difference, "ledger entry 6: ");
    check_finding(report.first_difference, expected);
  }
}

TEST_CASE("verification wants snapshots and shards, a replay does not") {
  SyntheticRun run = mixed_run();
  const char* expected = nullptr;
  SUBCASE("shard") {
    run.objects.erase(body<RunCreated>(run, 0).shards[0]);
    expected = "ledger entry 0: shard";
  }
  SUBCASE("snapshot") {
    run.objects.erase(body<SnapshotPublished>(run, 10).parameters);
    expected = "ledger entry 10: snapshot";
  }
  SUBCASE("state of the rule") {
    run.objects.erase(body<SnapshotPublished>(run, 10).rule_state);
    expected = "ledger entry 10: state of the rule";
  }
  const auto records = run.records();
  check_finding(verify_ledger(run.sources(records)).first_difference, expected);
  CHECK(replay(run.sources(records)).ledger.ok());
}

// What only the owner of the project's key could have written.
TEST_CASE("a cheating project is found by the replay") {
  SyntheticRun run = mixed_run();
  const char* expected = nullptr;
  SUBCASE("a coefficient") {
    body<ResultAssimilated>(run, 1).coefficients["one_minus_alpha"] = 0.31F;
    expected = "ledger entry 3: snapshot of base version 2";
  }
  SUBCASE("the last coefficient") {
    body<ResultAssimilated>(run, 16).coefficients["one_minus_alpha"] = 0.31F;
    expected = "ledger entry 17: snapshot of base version 9";
  }
  SUBCASE("the weight of the average") {
    body<ResultAssimilated>(run, 16).coefficients["one_minus_c"] = 0.5F;
    expected = "ledger entry 18: version 9: published model";
  }
  SUBCASE("another update") {
    body<ResultAssimilated>(run, 16).update =
        body<ResultAssimilated>(run, 15).update;
    expected = "ledger entry 17: snapshot of base version 9";
  }
  SUBCASE("a workunit of another unit") {
    body<ResultAssimilated>(run, 16).workunit =
        body<ResultAssimilated>(run, 15).workunit;
    expected = "ledger entry 16: workunit of unit 13: index";
  }
  SUBCASE("more samples than the unit had") {
    body<ResultAssimilated>(run, 16).samples = 800;
    expected = "ledger entry 16: workunit of unit 13: samples";
  }
  SUBCASE("an unknown rule") {
    body<ResultAssimilated>(run, 16).rule = "magic";
    expected = "ledger entry 16: update rule \"magic\"";
  }
  SUBCASE("a result out of nothing at the end") {
    body<RunEnded>(run, 19).parameters = sha256(as_bytes("better"));
    expected = "ledger entry 19: end of the run: parameters";
  }
  SUBCASE("another published model at the end") {
    body<RunEnded>(run, 19).published = sha256(as_bytes("better"));
    expected = "ledger entry 19: end of the run: published model";
  }
  SUBCASE("another snapshot") {
    body<SnapshotPublished>(run, 10).parameters = sha256(as_bytes("better"));
    expected = "ledger entry 10: version 6: parameters";
  }
  SUBCASE("another state of the rule") {
    body<SnapshotPublished>(run, 10).rule_state = Hash{};
    expected = "ledger entry 10: version 6: state of the rule";
  }
  SUBCASE("another beginning") {
    body<RunCreated>(run, 0).seed = 6;
    expected = "ledger entry 0: initial parameters";
  }
  const auto records = run.records();
  const ReplayReport report = replay(run.sources(records));
  check_finding(report.ledger.first_difference, expected);
}

TEST_CASE("a stale base is compared with what the unit was sent") {
  // given a version that only a later, stale unit used as base
  SyntheticRun run;
  run.assimilate_vc_asgd(0);
  run.assimilate_vc_asgd(0);
  run.assimilate_vc_asgd(1);
  // when the step to that version is forged
  body<ResultAssimilated>(run, 1).coefficients["one_minus_alpha"] = 0.31F;
  // then the unit's sealed task gives it away
  const auto records = run.records();
  check_finding(replay(run.sources(records)).ledger.first_difference,
                "ledger entry 3: snapshot of base version 1");
}

TEST_CASE("a host's results can be left out") {
  // given the same run without entry 2, the only one of host 1 outside a round
  SyntheticRun run;
  run.assimilate_vc_asgd(0);
  run.assimilate_vc_asgd(1, 1);
  run.publish();
  run.end();
  SyntheticRun without;
  without.assimilate_vc_asgd(0);
  const auto records = run.records();
  // when host 1 is left out, then the model is that of the others
  ReplayOptions options;
  options.without_hosts = {SyntheticRun::host_key(1)};
  const ReplayReport report = replay(run.sources(records), options);
  CHECK(report.ledger.first_difference == "");
  CHECK(report.left_out == 1);
  CHECK(report.model->version() == 2);
  CHECK(report.parameters == without.parameters_hash());
  CHECK(report.published == without.published_hash());

  SUBCASE("or its one result") {
    const ResultId its = result_of(records, SyntheticRun::host_key(1));
    const ReplayReport other =
        replay(run.sources(records), {.without_results = {its}});
    CHECK(other.left_out == 1);
    CHECK(other.parameters == without.parameters_hash());
    CHECK_THROWS_WITH_AS(
        replay(run.sources(records), {.without_results = {its, 999}}),
        "replay without result 999: it is not in the model", Error);
  }
  SUBCASE("of rounds and stale bases too") {
    const SyntheticRun mixed = mixed_run();
    const auto mixed_records = mixed.records();
    const ReplayReport rest = replay(mixed.sources(mixed_records), options);
    CHECK(rest.ledger.first_difference == "");
    CHECK(rest.left_out == 2);
    CHECK(rest.model->version() == 9);
    CHECK(rest.parameters != mixed.parameters_hash());
  }
}

TEST_CASE("a run with revocations replays as it went, and as rebuilt") {
  const SyntheticRun run = run_with_revocations();
  const auto records = run.records();
  REQUIRE(records.size() == 18);
  std::vector<std::uint64_t> seen;
  std::vector<std::uint64_t> revoked;
  ReplayOptions options;
  options.see = [&](const ResultAtHand& result, bool is_revoked) {
    CHECK(std::equal(result.base.begin(), result.base.end(),
                     run.parameters_at(result.entry.base_version).begin()));
    seen.push_back(result.at.seq);
    if (is_revoked) revoked.push_back(result.at.seq);
  };
  const ReplayReport report = replay(run.sources(records), options);
  CHECK(report.ledger.first_difference == "");
  CHECK(report.ledger.entries == 18);
  CHECK(report.left_out == 4);
  CHECK(report.model->version() == 11);
  CHECK(report.parameters == run.parameters_hash());
  CHECK(report.published == run.published_hash());
  CHECK(seen ==
        std::vector<std::uint64_t>{1, 2, 3, 4, 6, 7, 8, 11, 12, 13, 15});
  CHECK(revoked == std::vector<std::uint64_t>{2, 4, 6, 12});
  CHECK(verify_ledger(run.sources(records)).first_difference == "");
}

TEST_CASE("a forged revocation is found by the replay") {
  SyntheticRun run = run_with_revocations();
  const char* expected = nullptr;
  SUBCASE("another model") {
    body<Revoked>(run, 9).parameters = sha256(as_bytes("better"));
    expected = "ledger entry 9: revocation: parameters";
  }
  SUBCASE("fewer results than were taken out") {
    body<Revoked>(run, 9).results.pop_back();
    expected = "ledger entry 9: revocation: parameters";
  }
  SUBCASE("a false update stays in") {
    body<SnapshotPublished>(run, 10) = body<SnapshotPublished>(run, 5);
    body<SnapshotPublished>(run, 10).version = 6;
    expected = "ledger entry 10: version 6: parameters";
  }
  SUBCASE("the model before it") {
    body<SnapshotPublished>(run, 5).parameters = sha256(as_bytes("better"));
    expected = "ledger entry 5: version 4: parameters";
  }
  SUBCASE("a coefficient before it, which the rebuilding uses, too") {
    body<ResultAssimilated>(run, 4).coefficients["one_minus_c"] = 0.5F;
    expected = "ledger entry 5: version 4: published model";
  }
  SUBCASE("a unit of the branch that was left") {
    auto& entry = body<ResultAssimilated>(run, 11);
    entry = body<ResultAssimilated>(run, 8);
    entry.result = 5000;
    entry.version_before = 6;
    entry.version_after = 7;
    entry.rule = "vc-asgd";
    entry.staleness = 6 - entry.base_version;
    expected = "ledger entry 11: snapshot of base version 4";
  }
  const auto records = run.records();
  check_finding(replay(run.sources(records)).ledger.first_difference, expected);
}

TEST_CASE("units of a round may be older than a revocation") {
  SyntheticRun run;
  run.assimilate_vc_asgd(0, 1);
  run.assimilate_round(2);
  // given units that were sent before the revocation, and another after it
  run.revoke(1);
  run.assimilate_old_round(2, 2);
  run.publish();
  std::size_t seen = 0;
  ReplayOptions options;
  options.see = [&](const ResultAtHand& result, bool) {
    CHECK(std::equal(result.base.begin(), result.base.end(),
                     run.parameters_at(result.entry.base_version).begin()));
    ++seen;
  };
  SUBCASE("they are merged") {}
  SUBCASE("and may be rebuilt themselves") {
    run.assimilate_round(1, 2);
    run.revoke(2);
    run.publish();
  }
  const auto records = run.records();
  const ReplayReport report = replay(run.sources(records), options);
  CHECK(report.ledger.first_difference == "");
  CHECK(report.parameters == run.parameters_hash());
  CHECK(seen == report.ledger.results);
}

TEST_CASE("a run without a host is the run in which it never was") {
  for (const SyntheticRun& run :
       {mixed_run(), run_with_revocations(), run_with_peers()}) {
    const auto records = run.records();
    for (int host : {0, 1, 2}) {
      ReplayOptions options;
      options.without_hosts = {SyntheticRun::host_key(host)};
      const ReplayReport report = replay(run.sources(records), options);
      const SyntheticRun::Model expected = run.without(options.without_hosts);
      CHECK(report.ledger.first_difference == "");
      CHECK(report.model->version() == expected.version);
      CHECK(report.model->parameters() == expected.parameters);
      CHECK(report.model->published() == expected.published);
    }
  }
}

TEST_CASE("past versions are kept only as far as allowed") {
  const SyntheticRun run = mixed_run();
  const auto records = run.records();
  const std::uint64_t version_bytes = 17 * sizeof(float);
  ReplayOptions options;
  // Versions 0 and 2 are wanted at the same time, after entry 3.
  options.max_memory_bytes = (4 + 2) * version_bytes;
  CHECK(replay(run.sources(records), options).ledger.ok());
  options.max_memory_bytes -= 1;
  try {
    replay(run.sources(records), options);
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::denied);
    check_finding(error.what(), "2 past versions");
  }
}

TEST_CASE("past versions that find no room go to files") {
  test::TemporaryFolder folder;
  for (const SyntheticRun& run : {mixed_run(), run_with_revocations()}) {
    const auto records = run.records();
    const Hash parameters = replay(run.sources(records)).parameters;
    ReplayOptions options;
    options.max_memory_bytes = 4 * 17 * sizeof(float);
    CHECK_THROWS_AS(replay(run.sources(records), options), Error);
    options.past_folder = folder.path();
    // A server must be able to take results out of the largest of its models.
    SUBCASE("none has room") {
      options.max_memory_bytes = 1;
    }
    SUBCASE("the model has") {}
    const ReplayReport report = replay(run.sources(records), options);
    CHECK(report.ledger.first_difference == "");
    CHECK(report.parameters == parameters);
    CHECK(fs::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace quorate
