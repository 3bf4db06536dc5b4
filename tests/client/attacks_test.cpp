#include "tests/support/attacker/attacks.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/safetensors.h"

namespace quorate::test {
namespace {

const std::vector<float> kValues = {1, -2, 3,  -4, 5,  -6, 7, -8, 9,
                                    1, 2,  -3, 4,  -5, 6,  7, 8};

Bytes honest() {
  return write_parameters(sample_model(), kValues);
}

std::vector<float> values(const Bytes& update) {
  return read_parameters(sample_model(), update, "update");
}

struct Victim {
  TemporaryFolder folder;
  fs::path update = folder / "update";
  client::Identity identity{
      sample_project(), sample_key(2), sample_key(3), "", "", ""};
  Claim claim;

  // Signs the honest update as the agent does and returns the header.
  ResultHeader sign(client::ResultTamper* attack, ResultId result = 1) {
    write_file_durably(update, honest());
    claim.update = sha256(honest());
    claim.digests = {filled<Hash>(static_cast<std::uint8_t>(result))};
    client::SigningTask task;
    task.result = result;
    task.update = update;
    SignedHeader header = sign_result(task, claim, identity, attack);
    CHECK(verify_header(header, sample_project(), identity.host.public_key()));
    return decode_result_header(header.bytes);
  }
};

TEST_CASE("without an attack, what was computed is signed") {
  Victim victim;
  ResultHeader header = victim.sign(nullptr);
  CHECK(header.claim == victim.claim);
  CHECK(header.proof == update_proof(header.nonce, header.host, honest(),
                                     header.claim.digests));
}

TEST_CASE("changed updates are signed and sent as if they were computed") {
  for (const char* name : {"random", "scaled", "sign-flip"}) {
    CAPTURE(name);
    Victim victim;
    ResultHeader header = victim.sign(make_attack(name).get());
    Bytes sent = read_file(victim.update);
    CHECK(header.claim.update == sha256(sent));
    CHECK(sent != honest());
    CHECK(all_finite(values(sent)));
    CHECK(header.claim.digests == victim.claim.digests);
  }
}

TEST_CASE("scaled and flipped values are what they say") {
  Bytes scaled = honest();
  change_update(scaled, Change::scaled, 0);
  Bytes flipped = honest();
  change_update(flipped, Change::sign_flip, 0);
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    CHECK(values(scaled)[i] == 1.5F * kValues[i]);
    CHECK(values(flipped)[i] == -kValues[i]);
  }
}

TEST_CASE("a wrong payload goes under an honest header") {
  Victim victim;
  ResultHeader header = victim.sign(make_attack("wrong-payload").get());
  CHECK(header.claim == victim.claim);
  CHECK(sha256(read_file(victim.update)) != header.claim.update);
}

TEST_CASE("another unit's result is handed in under this one's id") {
  Victim victim;
  auto attack = make_attack("other-unit");
  ResultHeader first = victim.sign(attack.get(), 1);
  ResultHeader second = victim.sign(attack.get(), 2);
  CHECK(second.claim == first.claim);
  CHECK(second.result_id == 2);
  CHECK(second.claim.digests != victim.claim.digests);
}

TEST_CASE("unknown attacks are not made") {
  CHECK(make_attack("kindness") == nullptr);
}

}  // namespace
}  // namespace quorate::test
