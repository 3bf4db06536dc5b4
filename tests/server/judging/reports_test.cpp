// What screening refuses, through the daemons, and reports that repeat.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/server/project_fixture.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::Forgery;
using test::ProjectFixture;
using test::Volunteer;

struct Row {
  const char* name;
  Forgery forgery;
  const char* reason;
};

Forgery with_header(std::function<void(ResultHeader&)> change) {
  Forgery forgery;
  forgery.header = std::move(change);
  return forgery;
}

Forgery with_result(std::function<void(TrainingResult&)> change) {
  Forgery forgery;
  forgery.result = std::move(change);
  return forgery;
}

// An update of bytes that hash to what the header says, but are no update.
Forgery with_update(std::function<void(Bytes&)> change) {
  return with_result([change = std::move(change)](TrainingResult& result) {
    change(result.update);
    result.claim.update = sha256(result.update);
  });
}

std::vector<Row> rows() {
  Forgery wrong_key;
  wrong_key.wrong_key = true;
  Forgery other_payload;
  other_payload.upload = Bytes(100, 7);
  Forgery no_payload;
  no_payload.upload = Bytes();
  return {
      {"signature", wrong_key, "wrong signature"},
      {"nonce", with_header([](ResultHeader& h) { h.nonce.bytes[0] ^= 1; }),
       "wrong nonce"},
      {"workunit",
       with_header([](ResultHeader& h) { h.workunit.bytes[0] ^= 1; }),
       "wrong workunit"},
      {"host", with_header([](ResultHeader& h) { h.host.bytes[0] ^= 1; }),
       "wrong host key"},
      {"result", with_header([](ResultHeader& h) { ++h.result_id; }),
       "wrong result"},
      {"arithmetic", with_header([](ResultHeader& h) { ++h.arithmetic; }),
       "wrong arithmetic"},
      {"proof", with_header([](ResultHeader& h) { h.proof.bytes[0] ^= 1; }),
       "wrong proof"},
      {"digests",
       with_header([](ResultHeader& h) { h.claim.digests.pop_back(); }),
       "wrong number of state digests"},
      {"samples", with_header([](ResultHeader& h) { ++h.claim.samples; }),
       "wrong number of samples"},
      {"loss", with_header([](ResultHeader& h) {
         h.claim.loss_bits = bits(std::numeric_limits<float>::infinity());
       }),
       "loss that is not finite"},
      {"payload hash", other_payload, "update differs from its header"},
      {"payload missing", no_payload, "update missing"},
      {"not finite", with_update([](Bytes& update) {
         const std::uint32_t nan = 0x7fc00000;
         std::memcpy(update.data() + update.size() - 4, &nan, 4);
       }),
       "not finite"},
      {"cut short", with_update([](Bytes& update) { update.pop_back(); }),
       "malformed"},
      {"no tensors",
       with_update([](Bytes& update) { update = write_safetensors({}); }),
       "malformed"},
      {"diverged after the end", with_result([](TrainingResult& result) {
         test::divergence().result(result);
         result.claim.diverged_step = 9;
       }),
       "inconsistent outcome"},
  };
}

}  // namespace

TEST_CASE("what screening refuses is stored with its reason, and re-issued") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    ProjectFixture project;
    Volunteer ann = project.join(), mallory = project.join();
    Assignment forged = project.take(mallory);
    Assignment honest = project.take(ann);
    Acknowledgement answer = project.report(mallory, forged, row.forgery);
    CHECK_FALSE(answer.accepted);
    CAPTURE(answer.reason);
    CHECK(answer.reason.find(row.reason) != std::string::npos);

    Result stored = project.result(forged.result);
    CHECK(stored.server_state == ServerState::over);
    CHECK(stored.outcome == ResultOutcome::validate_error);
    CHECK(stored.validate_state == ValidateState::invalid);
    CHECK(stored.reason == answer.reason);
    CHECK(stored.credit == 0);
    CHECK(project.host(mallory).invalid == 1);
    CHECK(project.events("result_rejected") == 1);
    CHECK(project.state()
              .store.rejected_results(project.run().run.key, {})
              .size() == 1);
    // Another replica is out, and the unit is as good as before.
    CHECK(project.results_of_unit(stored.workunit).size() == 3);
    CHECK(project.unit_of(honest.result).state == WorkunitState::open);
  }
}

TEST_CASE("bytes that are no header change nothing") {
  ProjectFixture project;
  Volunteer ann = project.join();
  Assignment mine = project.take(ann);
  SignedHeader header = project.upload(ann, mine);
  for (std::size_t size = 0; size < header.bytes.size(); ++size) {
    SignedHeader cut = header;
    cut.bytes.resize(size);
    CHECK_THROWS_AS(project.send(ann, mine.result, cut), Error);
  }
  CHECK(project.result(mine.result).server_state == ServerState::in_progress);
  CHECK(project.send(ann, mine.result, header).accepted);
}

TEST_CASE("a report that is repeated gets the same answer and counts once") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  SignedHeader header = project.upload(ann, a);
  CHECK(project.send(ann, a.result, header).accepted);
  CHECK(project.send(ann, a.result, header).accepted);
  CHECK(project.run().model.version() == 0);  // not two voices
  project.report(bob, b);
  CHECK(project.send(ann, a.result, header).accepted);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.assimilated().size() == 1);

  SUBCASE("with another header it is refused") {
    SignedHeader other = header;
    other.bytes.back() ^= 1;
    Acknowledgement reply = project.send(ann, a.result, other);
    CHECK_FALSE(reply.accepted);
    CHECK(reply.reason.find("closed") != std::string::npos);
  }
  SUBCASE("by another host it is denied") {
    try {
      project.send(bob, a.result, header);
      FAIL_CHECK("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::denied);
    }
  }
  check_ledger(project);
}

TEST_CASE("a rejected report that is repeated is refused for the same reason") {
  ProjectFixture project;
  Volunteer ann = project.join();
  Assignment a = project.take(ann);
  SignedHeader forged = project.upload(
      ann, a, with_header([](ResultHeader& h) { h.nonce.bytes[0] ^= 1; }));
  Acknowledgement first = project.send(ann, a.result, forged);
  Acknowledgement second = project.send(ann, a.result, forged);
  CHECK_FALSE(second.accepted);
  CHECK(second.reason == first.reason);
  CHECK(project.host(ann).invalid == 1);
}

TEST_CASE("a report for a result that is not the host's is denied") {
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join();
  Assignment a = project.take(ann);
  SignedHeader header = project.upload(ann, a);
  CHECK_THROWS_AS(project.send(eve, a.result, header), Error);
  CHECK_THROWS_AS(project.send(eve, 987654, header), Error);
  CHECK(project.result(a.result).server_state == ServerState::in_progress);
}

TEST_CASE("a replica's header of another assignment is worth nothing") {
  // A copier repeats a friend's claim under its own nonce and key, without
  // having held the update.
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join();
  Assignment a = project.take(ann), e = project.take(eve);
  SignedHeader ann_header = project.upload(ann, a);
  project.send(ann, a.result, ann_header);
  ResultHeader copied = decode_result_header(ann_header.bytes);
  Acknowledgement reply = project.report(
      eve, e, with_header([&](ResultHeader& h) { h.proof = copied.proof; }));
  CHECK_FALSE(reply.accepted);
  CHECK(reply.reason.find("wrong proof") != std::string::npos);
}

}  // namespace quorate
