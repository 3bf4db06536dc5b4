#include "workunits/result_header.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;
using test::sample_header;

bool is_refused(const std::function<void(ResultHeader&)>& change) {
  ResultHeader header = sample_header();
  change(header);
  try {
    decode_result_header(encode(header));
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("a header comes back as it was") {
  for (const ResultHeader& header :
       {sample_header(), test::sample_diverged_header()}) {
    ResultHeader back = decode_result_header(encode(header));
    CHECK(back.result_id == header.result_id);
    CHECK(back.nonce == header.nonce);
    CHECK(back.workunit == header.workunit);
    CHECK(back.host == header.host);
    CHECK(back.claim == header.claim);
    CHECK(back.device == header.device);
    CHECK(back.arithmetic == header.arithmetic);
    CHECK(back.proof == header.proof);
  }
}

TEST_CASE("a header that contradicts itself is refused") {
  CHECK(is_refused([](auto& h) { h.claim.digests.resize(9); }));
  CHECK(is_refused([](auto& h) { h.device = std::string(65, 'x'); }));
  CHECK(is_refused([](auto& h) { h.device = "cpu\n"; }));
  CHECK(is_refused([](auto& h) { h.device = "cp\xc3\xbc"; }));
  CHECK(is_refused([](auto& h) { h.claim.diverged_step = 1; }));
  CHECK(is_refused([](auto& h) { h.claim.update = Hash{}; }));
  CHECK(is_refused(
      [](auto& h) { h.claim.outcome = static_cast<ComputeOutcome>(3); }));
  CHECK(
      is_refused([](auto& h) { h.claim.outcome = ComputeOutcome::diverged; }));
  CHECK_FALSE(is_refused([](auto& h) { h.claim.digests.resize(8); }));
  CHECK_FALSE(is_refused([](auto& h) { h.device = ""; }));
}

TEST_CASE("replicas agree on a claim, whoever makes it") {
  ResultHeader other = sample_header();
  other.result_id = 43;
  other.nonce = filled<Nonce>(1);
  other.device = "reference";
  CHECK(claim_hash(other.claim) == claim_hash(sample_header().claim));
}

TEST_CASE("every part of a claim is in its hash") {
  const Claim claim = sample_header().claim;
  auto changed = [&claim](const std::function<void(Claim&)>& change) {
    Claim other = claim;
    change(other);
    return claim_hash(other) != claim_hash(claim);
  };
  CHECK(changed([](Claim& c) { c.update.bytes[31] ^= 1; }));
  CHECK(changed([](Claim& c) { c.digests[1].bytes[0] ^= 1; }));
  CHECK(changed([](Claim& c) { c.digests.pop_back(); }));
  CHECK(changed([](Claim& c) { std::swap(c.digests[0], c.digests[1]); }));
  CHECK(changed([](Claim& c) { ++c.samples; }));
  CHECK(changed([](Claim& c) { c.loss_bits ^= 1; }));
  CHECK(changed([](Claim& c) { c.outcome = ComputeOutcome::diverged; }));
  CHECK(changed([](Claim& c) { ++c.diverged_step; }));
}

TEST_CASE("a proof depends on the assignment, the host and the bytes") {
  Bytes update{1, 2, 3};
  std::vector<Hash> digests{filled<Hash>(1)};
  Nonce nonce = filled<Nonce>(2);
  PublicKey host = filled<PublicKey>(3);
  Hash proof = update_proof(nonce, host, update, digests);
  CHECK(proof == update_proof(nonce, host, update, digests));
  CHECK(proof != update_proof(filled<Nonce>(9), host, update, digests));
  CHECK(proof != update_proof(nonce, filled<PublicKey>(9), update, digests));
  CHECK(proof != update_proof(nonce, host, Bytes{1, 2, 4}, digests));
  CHECK(proof != update_proof(nonce, host, update, {}));
}

TEST_CASE("a signed header fits one host, project and content") {
  PrivateKey host = test::sample_key(2);
  ProjectId project = test::sample_project();
  SignedHeader header = sign_header(sample_header(), project, host);
  CHECK(header.bytes == encode(sample_header()));
  CHECK(verify_header(header, project, host.public_key()));
  CHECK_FALSE(verify_header(header, ProjectId{}, host.public_key()));
  CHECK_FALSE(verify_header(header, project, test::sample_key(3).public_key()));
  header.bytes[8] ^= 1;
  CHECK_FALSE(verify_header(header, project, host.public_key()));
}

}  // namespace quorate
