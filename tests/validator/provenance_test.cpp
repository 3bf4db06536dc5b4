#include "validator/provenance.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "synthetic_run.h"

namespace quorate {
namespace {

struct Read {
  Provenance found;
  std::vector<Hash> hashes;
};

Read read(const SyntheticRun& run, std::uint64_t version) {
  const auto records = run.records();
  const LedgerSources sources = run.sources(records);
  std::uint64_t seq = 0;
  Read result;
  result.found = provenance_of([&] { return sources.records(seq++); },
                               sources.keys, version,
                               [&](const LedgerRecord& record) {
                                 result.hashes.push_back(record.hash);
                               });
  return result;
}

}  // namespace

TEST_CASE("a version is made of the results up to it, without the revoked") {
  const SyntheticRun run = run_with_revocations();
  const Provenance before = read(run, 4).found;
  CHECK(before.published ==
        std::get<SnapshotPublished>(run.entries.at(5).body).published);
  CHECK(before.results == 4);
  CHECK(before.hosts == 3);
  CHECK(before.samples == 4 * 8);
  CHECK(before.revoked_before == 0);
  CHECK(before.revoked_later == 2);

  const Provenance last = read(run, 11).found;
  CHECK(last.published == run.published_hash());
  CHECK(last.results == 7);
  CHECK(last.hosts == 2);
  CHECK(last.revoked_before == 4);
  CHECK(last.revoked_later == 0);
  CHECK(last.entries == 18);
  CHECK(last.run.name == "synthetic");
  CHECK(read(run, 5).found.published.is_zero());
}

TEST_CASE("a version names what nobody recomputed, until it is revoked") {
  SyntheticRun run = run_with_revocations();
  CHECK(unverified_text(read(run, 4).found) == "");
  std::get<ResultAssimilated>(run.entries.at(2).body).basis = kUnverified;
  const Provenance before = read(run, 4).found;
  REQUIRE(before.unverified.size() == 1);
  CHECK(before.unverified[0].entry == 2);
  const std::string text = unverified_text(before);
  CHECK(text.find(fmt::format("1 of its 4 results was accepted without "
                              "recomputation: result {} (ledger entry",
                              before.unverified[0].result)) != text.npos);
  CHECK(text.find("quorate result revoke") != text.npos);
  CHECK(read(run, 11).found.unverified.empty());
}

TEST_CASE("a version names how many models of peers are in it") {
  SyntheticRun run;
  run.mix_peer(3);
  run.publish();
  run.mix_peer(4);
  run.publish();
  run.mix_peer(5);
  const Provenance found = read(run, 2).found;
  CHECK(found.mixed == 2);
  CHECK(found.peers == 1);
  CHECK(found.results == 0);
  CHECK(read(run, 1).found.mixed == 1);
}

TEST_CASE("a model file is what it says, or the difference is named") {
  const SyntheticRun run = run_with_revocations();
  const Read ledger = read(run, 11);
  ModelClaims claims;
  claims.run_id = ledger.found.run.run.hex();
  claims.version = 11;
  claims.model = ledger.found.run.model;
  claims.published = run.published_hash();
  claims.ledger_entries = 17;
  claims.ledger_head = ledger.hashes.at(16);
  std::string expected;
  SUBCASE("right") {}
  SUBCASE("another run") {
    claims.run_id = RunId{}.hex();
    expected = "it is of run 0000";
  }
  SUBCASE("another network") {
    claims.model.widths = {2, 4, 2};
    expected = "it is of another network";
  }
  SUBCASE("changed parameters") {
    claims.published = Hash{};
    expected = "its parameters are 0000";
  }
  SUBCASE("another history") {
    claims.ledger_head = Hash{};
    expected = "it was exported when entry 16 of the ledger was 0000";
  }
  SUBCASE("no history") {
    claims.ledger_entries = 0;
    claims.ledger_head = Hash{};
    expected = "it was exported when the ledger had 0 entries";
  }
  SUBCASE("more history than there is") {
    claims.ledger_entries = ~0ULL;
    expected = "it was exported when the ledger had 18446744073709551615 ent";
  }
  SUBCASE("what the ledger says") {
    claims.said = description_of(ledger.found);
    claims.said["quorate.accuracy"] = "0.99";  // that, too: for people
  }
  SUBCASE("more results than there were") {
    claims.said = description_of(ledger.found);
    claims.said["quorate.results"] = "1000";
    expected = "its quorate.results is \"1000\", the ledger says \"";
  }
  SUBCASE("another rule") {
    claims.said = description_of(ledger.found);
    claims.said["quorate.rule"] = "\x1b[2J";
    expected = "its quorate.rule is \"";
  }
  const std::string found =
      difference(claims, ledger.found, ledger.hashes.at(16));
  CAPTURE(found);
  CHECK((expected.empty() ? found.empty() : found.find(expected) == 0));
}

TEST_CASE("a version that was not published cannot be compared") {
  const Read ledger = read(run_with_revocations(), 5);
  ModelClaims claims;
  claims.run_id = ledger.found.run.run.hex();
  claims.version = 5;
  claims.model = ledger.found.run.model;
  CHECK(difference(claims, ledger.found, Hash{}) ==
        "the ledger has no published version 5");
}

}  // namespace quorate
