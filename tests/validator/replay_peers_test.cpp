// Replays of runs that took models of peers.
#include <doctest/doctest.h>

#include "tests/validator/forged.h"
#include "validator/rebuild.h"

namespace quorate {
namespace {

TEST_CASE("a run that takes models of a peer replays and verifies") {
  SyntheticRun run = run_with_peers();
  const auto records = run.records();
  const ReplayReport report = replay(run.sources(records));
  CHECK(report.ledger.first_difference == "");
  CHECK(report.ledger.entries == 14);
  CHECK(report.model->version() == 9);
  CHECK(report.parameters == run.parameters_hash());
  CHECK(report.published == run.published_hash());
  CHECK(verify_ledger(run.sources(records)).first_difference == "");
  // What a revocation rebuilds has the peer's models in it, too.
  const auto& revoked = body<Revoked>(run, 9);
  const LedgerSources sources = run.sources(records);
  Rebuild rebuild(sources, {revoked.results.begin(), revoked.results.end()},
                  ReplayOptions{});
  rebuild.go_on(9);
  CHECK(run.hash_of(rebuild.take_model().parameters()) == revoked.parameters);
}

TEST_CASE("a forged entry about a peer is found") {
  SyntheticRun run = run_with_peers();
  const char* expected = nullptr;
  bool by_verify = true;
  SUBCASE("another weight") {
    body<PeerMixed>(run, 4).weight = 0.5F;
    expected = "ledger entry 5: version 3: parameters";
    by_verify = false;
  }
  SUBCASE("another weight of the average") {
    body<PeerMixed>(run, 4).one_minus_c = 0.75F;
    expected = "ledger entry 5: version 3: published model";
    by_verify = false;
  }
  SUBCASE("a model that nobody offered") {
    body<PeerMixed>(run, 4).parameters = body<RunCreated>(run, 0).initial;
    expected = "ledger entry 4: offer of the model of peer";
  }
  SUBCASE("another peer") {
    body<PeerMixed>(run, 4).peer = SyntheticRun::host_key(1);
    expected = "another project sealed it";
  }
  SUBCASE("another run of it") {
    body<PeerMixed>(run, 4).peer_run = RunId{};
    expected = "it is of another run";
  }
  SUBCASE("another version of it") {
    body<PeerMixed>(run, 4).peer_version = 8;
    expected = "version: recorded is 8, found 7";
  }
  SUBCASE("no offer") {
    run.objects.erase(body<PeerMixed>(run, 4).offer);
    expected = "missing from the store";
  }
  SUBCASE("its bytes are lost") {
    run.objects.at(body<PeerMixed>(run, 4).parameters)[200] ^= 1;
    expected = "its bytes have another hash";
  }
  const auto records = run.records();
  check_finding(replay(run.sources(records)).ledger.first_difference, expected);
  const std::string found =
      verify_ledger(run.sources(records)).first_difference;
  if (by_verify) {
    check_finding(found, expected);
  } else {
    CHECK(found == "");
  }
}

}  // namespace
}  // namespace quorate
