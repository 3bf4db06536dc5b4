#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "tests/support/samples.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate {
namespace {

using Entries = std::vector<LedgerEntry>;
using Records = std::vector<LedgerRecord>;

// Empty if the whole ledger is right; else the complaint.
std::string complaint(const Records& records) {
  LedgerVerifier verifier(keyring_of(test::sample_key(1).public_key()));
  try {
    for (const LedgerRecord& record : records) verifier.next(record);
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

// The complaint about a ledger changed before it was chained and signed.
std::string after(const std::function<void(Entries&)>& change) {
  Entries entries = test::sample_entries();
  change(entries);
  return complaint(test::chain(entries));
}

// The complaint about a ledger changed afterwards.
std::string after_signing(const std::function<void(Records&)>& change) {
  Records records = test::sample_ledger();
  change(records);
  return complaint(records);
}

// The same of one that ends with a revocation.
std::string after_revocation(const std::function<void(Entries&)>& change) {
  Entries entries = test::sample_revocation();
  change(entries);
  return complaint(test::chain(entries));
}

Revoked& revoked(Entries& entries) {
  return std::get<Revoked>(entries.at(5).body);
}

ResultAssimilated& result(Entries& entries, std::size_t seq) {
  return std::get<ResultAssimilated>(entries.at(seq).body);
}

std::string replaced(std::string text, std::string_view from,
                     std::string_view to) {
  std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a whole ledger verifies and its entries come back") {
  CHECK(complaint(test::sample_ledger()).empty());
  for (const LedgerRecord& record : test::sample_ledger()) {
    CAPTURE(record.line);
    LedgerEntry entry = parse_entry(record.line);
    LedgerRecord again =
        make_record(entry, test::sample_project(), test::sample_key(1));
    CHECK(again.line == record.line);
    CHECK(again.hash == record.hash);
    CHECK(again.signature == record.signature);
    CHECK(record.line.find('\n') == std::string::npos);
  }
}

TEST_CASE("the parts of entries come back") {
  Records records = test::sample_ledger();
  auto run = std::get<RunCreated>(parse_entry(records[0].line).body);
  CHECK(run.name == "first");
  CHECK(run.shards.size() == 2);
  CHECK(run.seed == 7);
  CHECK(run.settings == R"({"batch":2})");
  auto third = std::get<ResultAssimilated>(parse_entry(records[2].line).body);
  CHECK(third.staleness == 1);
  CHECK(third.result == 41);
  CHECK(third.coefficients.at("alpha") == 0.7F);
  auto snapshot =
      std::get<SnapshotPublished>(parse_entry(records[4].line).body);
  CHECK(snapshot.version == 2);
  CHECK(snapshot.rule_state.is_zero());
  CHECK(std::get<RunEnded>(parse_entry(records[5].line).body).state ==
        "finished");
}

TEST_CASE("a record that was touched is found and named") {
  CHECK(after_signing([](Records& r) {
          r[1].line = replaced(r[1].line, "\"samples\":8", "\"samples\":9");
        }) == "ledger entry 1: its hash is not that of its line");
  CHECK(after_signing([](Records& r) {
          r[1].line = replaced(r[1].line, "\"samples\":8", "\"samples\":9");
          r[1].hash = sha256(as_bytes(r[1].line));
        }) == "ledger entry 1: its signature does not fit");
  CHECK(after_signing([](Records& r) { r[2].signature.bytes[0] ^= 1; }) ==
        "ledger entry 2: its signature does not fit");
  CHECK(after_signing([](Records& r) {
          r[4].kind = "result";
        }).find("ledger entry 4: kind") == 0);
  CHECK(after_signing([](Records& r) {
          r[4].seq = 5;
        }).find("ledger entry 4: found entry") == 0);
}

TEST_CASE("a gap, a swap and another first entry break the chain") {
  CHECK(after_signing([](Records& r) { r.erase(r.begin() + 2); }) ==
        "ledger entry 2: found entry 3 in its place");
  CHECK(after_signing([](Records& r) { std::swap(r[1], r[2]); }) ==
        "ledger entry 1: found entry 2 in its place");
  CHECK(after([](Entries& e) { e.erase(e.begin()); }) ==
        "ledger entry 0: found entry 1 in its place");
  // given an entry of another ledger, signed by the same project
  CHECK(after_signing([](Records& r) {
          Entries other = test::sample_entries();
          std::get<RunCreated>(other[0].body).seed = 8;
          r[1] = test::chain(other)[1];
        }) == "ledger entry 1: does not name the hash of the entry before it");
}

TEST_CASE("versions follow each other") {
  CHECK(after([](Entries& e) { result(e, 1).version_after = 2; }) ==
        "ledger entry 1: expected version 1, found 2");
  CHECK(after([](Entries& e) { result(e, 2).version_before = 0; }) ==
        "ledger entry 2: expected version 1, found 0");
  CHECK(after([](Entries& e) {
          result(e, 2).base_version = 2;
        }).find("ledger entry 2: staleness") == 0);
  CHECK(after([](Entries& e) {
          result(e, 2).staleness = 0;
        }).find("ledger entry 2: staleness") == 0);
  CHECK(after([](Entries& e) {
          std::get<SnapshotPublished>(e[4].body).version = 1;
        }) == "ledger entry 4: expected version 2, found 1");
  CHECK(after([](Entries& e) { std::get<RunEnded>(e[5].body).version = 3; }) ==
        "ledger entry 5: expected version 2, found 3");
}

TEST_CASE("a run is created once, first, and ends once, last") {
  CHECK(after([](Entries& e) {
          e.push_back(e[0]);
          e.back().seq = 6;
        }).find("ledger entry 6: a ledger begins") == 0);
  CHECK(after([](Entries& e) {
          e.push_back(e[4]);
          e.back().seq = 6;
        }).find("ledger entry 6: a ledger begins") == 0);
  CHECK(after([](Entries& e) {
          e[0].body = e[4].body;
        }).find("ledger entry 0: a ledger begins") == 0);
}

TEST_CASE("an entry that overwrites says what it read, in one spelling") {
  const Records records = test::chain(test::sample_overwriting());
  CHECK(complaint(records) == "");
  const auto body =
      std::get<ResultAssimilated>(parse_entry(records[2].line).body);
  CHECK(body.read_version == 0);
  CHECK(body.version_read() == 0);
  CHECK(body.overwrites() == 1);
  CHECK(records[1].line.find("read_version") == std::string::npos);
  for (const char* forged : {"\"read_version\":1", "\"read_version\":2"}) {
    CHECK_THROWS_AS(
        parse_entry(replaced(records[2].line, "\"read_version\":0", forged)),
        Error);
  }
}

TEST_CASE("an entry that nobody verified says so, in a ledger that is whole") {
  const Records records = test::chain(test::sample_unverified());
  CHECK(complaint(records) == "");
  const auto is_unverified = [&](std::size_t seq) {
    return std::get<ResultAssimilated>(parse_entry(records[seq].line).body)
        .is_unverified();
  };
  CHECK(is_unverified(3));
  CHECK(!is_unverified(2));
  CHECK(records[2].line == test::sample_ledger()[2].line);
}

TEST_CASE("a revocation and what it says come back") {
  CHECK(after_revocation([](Entries&) {}) == "");
  const Records records = test::chain(test::sample_revocation());
  CHECK(records[5].kind == "revocation");
  const auto body = std::get<Revoked>(parse_entry(records[5].line).body);
  CHECK(body.results == std::vector<ResultId>{40, 42});
  CHECK(body.host == test::sample_key(2).public_key());
  CHECK(body.reason == "found false by a check");
  CHECK(std::get<ResultAssimilated>(parse_entry(records[3].line).body).basis ==
        "proven");
  CHECK(records[1].line.find("basis") == std::string::npos);
}

TEST_CASE("a revocation of several hosts' results names none of them") {
  const Records records = test::chain(test::sample_revocation_of_several());
  CHECK_FALSE(
      std::get<Revoked>(parse_entry(records[5].line).body).host.has_value());
  LedgerVerifier verifier(keyring_of(test::sample_key(1).public_key()));
  for (const LedgerRecord& record : records) {
    CHECK_NOTHROW(verifier.next(record));
  }
}

TEST_CASE("a revocation may list thousands of results") {
  Entries entries = test::sample_revocation();
  revoked(entries).results.clear();
  for (ResultId id = 1; id <= static_cast<ResultId>(kMaxRevoked); ++id) {
    revoked(entries).results.push_back((ResultId{1} << 52) + id);
  }
  const Records records = test::chain(entries);
  CHECK_NOTHROW(parse_entry(records[5].line));
  revoked(entries).results.push_back(kMaxJsonInteger);
  CHECK_THROWS_AS(parse_entry(test::chain(entries)[5].line), Error);
}

TEST_CASE("only what is in the model can be revoked, once, of one host") {
  CHECK(after_revocation([](Entries& e) { revoked(e).version_after = 2; }) ==
        "ledger entry 5: expected version 3, found 2");
  CHECK(after_revocation([](Entries& e) { revoked(e).version_before = 1; }) ==
        "ledger entry 5: expected version 2, found 1");
  CHECK(after_revocation([](Entries& e) {
          revoked(e).results = {40, 44};
        }) ==
        "ledger entry 5: revokes result 44, which no entry before it "
        "assimilated");
  CHECK(after_revocation([](Entries& e) {
          revoked(e).host = test::sample_key(3).public_key();
        }).find("ledger entry 5: revokes result 40, which is not of host") ==
        0);
  CHECK(after_revocation([](Entries& e) {
          result(e, 3).host = test::sample_key(3).public_key();
        }).find("ledger entry 5: revokes result 42, which is not of host") ==
        0);
  CHECK(after_revocation([](Entries& e) {
          e.push_back(e[5]);
          e[6].seq = 6;
          std::get<Revoked>(e[6].body).version_before = 3;
          std::get<Revoked>(e[6].body).version_after = 4;
        }) == "ledger entry 6: revokes result 40, which was revoked before");
  CHECK(after_revocation([](Entries& e) {
          e.erase(e.begin() + 3, e.begin() + 5);
          e[3].seq = 3;
          auto& body = std::get<Revoked>(e[3].body);
          body.version_before = 1;
          body.version_after = 2;
          body.results = {40};
        }) == "ledger entry 3: revokes results inside an open round");
  CHECK(after([](Entries& e) { result(e, 2).result = 40; }) ==
        "ledger entry 2: result 40 was assimilated before");
  for (const std::vector<ResultId>& wrong :
       {std::vector<ResultId>{}, {42, 40}, {40, 40}, {-1}}) {
    CHECK(after_revocation([&](Entries& e) {
            revoked(e).results = wrong;
          }).find("ledger entry 5: field \"results\"") == 0);
  }
}

TEST_CASE("a peer's model and what it says come back") {
  CHECK(complaint(test::chain(test::sample_peer())) == "");
  const LedgerRecord record = test::chain(test::sample_peer()).at(5);
  CHECK(record.kind == "peer");
  const auto body = std::get<PeerMixed>(parse_entry(record.line).body);
  CHECK(body.version_before == 2);
  CHECK(body.version_after == 3);
  CHECK(body.peer == test::sample_key(4).public_key());
  CHECK(body.peer_run == test::filled<RunId>(0x12));
  CHECK(body.peer_version == 17);
  CHECK(body.parameters == test::filled<Hash>(0xb1));
  CHECK(body.offer == test::filled<Hash>(0xb2));
  CHECK(body.weight == 0.5F);
  CHECK(body.one_minus_c == 0.25F);
}

TEST_CASE("a peer's model makes one version, between two rounds") {
  auto after_peer = [](const std::function<void(PeerMixed&)>& change) {
    Entries entries = test::sample_peer();
    change(std::get<PeerMixed>(entries.at(5).body));
    return complaint(test::chain(entries));
  };
  CHECK(after_peer([](PeerMixed& p) { p.version_before = 1; }) ==
        "ledger entry 5: expected version 2, found 1");
  CHECK(after_peer([](PeerMixed& p) { p.version_after = 2; }) ==
        "ledger entry 5: expected version 3, found 2");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float weight : {0.0F, 1.0F, -0.5F, nan}) {
    CAPTURE(weight);
    CHECK(after_peer([&](PeerMixed& p) {
            p.weight = weight;
          }).find("ledger entry 5: field \"weight\"") == 0);
  }
  for (const float share : {-0.1F, 1.5F, nan}) {
    CAPTURE(share);
    CHECK(after_peer([&](PeerMixed& p) {
            p.one_minus_c = share;
          }).find("ledger entry 5: field \"one_minus_c\"") == 0);
  }
  Entries entries = test::sample_peer();
  entries.erase(entries.begin() + 3, entries.begin() + 5);
  entries[3].seq = 3;
  std::get<PeerMixed>(entries[3].body).version_before = 1;
  std::get<PeerMixed>(entries[3].body).version_after = 2;
  CHECK(complaint(test::chain(entries)) ==
        "ledger entry 3: mixes a peer's model in inside an open round");
}

TEST_CASE("another project's ledger does not verify") {
  LedgerVerifier verifier(
      keyring_of(ProjectId{}, test::sample_key(1).public_key()));
  CHECK_THROWS_AS(verifier.next(test::sample_ledger()[0]), Error);
}

TEST_CASE("a line that we would not write is corrupt") {
  std::string line = test::sample_ledger()[1].line;
  auto refused = [&line](std::string_view from, std::string_view to) {
    try {
      parse_entry(replaced(line, from, to));
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::corrupt;
    }
  };
  CHECK(refused("{\"base", "{ \"base"));
  CHECK(refused("{\"base", "{\"a\":0,\"base"));
  CHECK(refused("ledger v1", "ledger v2"));
  CHECK(refused("\"kind\":\"result\"", "\"kind\":\"gift\""));
  CHECK(refused("\"kind\":\"result\"", "\"kind\":\"run\""));
  CHECK(refused("\"samples\":8", "\"samples\":-8"));
  CHECK(refused("\"alpha\":\"3f333333\"", "\"alpha\":0.7"));
  CHECK(refused("\"alpha\":\"3f333333\"", "\"alpha\":\"3F333333\""));
  CHECK_FALSE(refused("\"samples\":8", "\"samples\":9"));
}

}  // namespace quorate
