#include "tests/support/attacker/attacks.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/safetensors.h"

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

TEST_CASE("attackers who agree change a unit alike, others do not") {
  for (bool agrees : {true, false}) {
    CAPTURE(agrees);
    const char* name = agrees ? "agreed" : "random";
    Victim victim;
    ResultHeader first = victim.sign(make_attack(name).get(), 1);
    ResultHeader second = victim.sign(make_attack(name).get(), 2);
    CHECK((first.claim.update == second.claim.update) == agrees);
    CHECK(first.claim.update != sha256(honest()));
  }
}

TEST_CASE("one element that is not finite is signed and sent") {
  Victim victim;
  ResultHeader header = victim.sign(make_attack("non-finite").get());
  Bytes sent = read_file(victim.update);
  CHECK(header.claim.update == sha256(sent));
  CHECK_FALSE(all_finite(values(sent)));
}

TEST_CASE("false digests come with the right update") {
  Victim victim;
  ResultHeader header = victim.sign(make_attack("false-digests").get());
  CHECK(read_file(victim.update) == honest());
  CHECK(header.claim.update == victim.claim.update);
  CHECK(header.claim.digests != victim.claim.digests);
}

TEST_CASE("an attack takes its share of the results, after honest ones") {
  constexpr int kHonest = 5;
  constexpr int kResults = 205;
  auto attack = sometimes(make_attack("sign-flip"), 0.25, kHonest);
  Victim victim;
  int falsified = 0;
  for (int i = 1; i <= kResults; ++i) {
    ResultHeader header = victim.sign(attack.get(), i);
    bool is_false = header.claim.update != sha256(honest());
    if (i <= kHonest) CHECK_FALSE(is_false);
    falsified += is_false ? 1 : 0;
  }
  CHECK(falsified > 30);
  CHECK(falsified < 70);
}

TEST_CASE("what is sometimes false sends the right payload otherwise") {
  Victim victim;
  auto attack = sometimes(make_attack("wrong-payload"), 1, 1);
  Hash first = victim.sign(attack.get(), 1).claim.update;
  CHECK(first == sha256(read_file(victim.update)));
  Hash second = victim.sign(attack.get(), 2).claim.update;
  CHECK(second != sha256(read_file(victim.update)));
}

TEST_CASE("unknown attacks are not made") {
  CHECK(make_attack("kindness") == nullptr);
}

}  // namespace
}  // namespace quorate::test
