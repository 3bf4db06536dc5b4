// What a host claims and signs about a result. docs/formats.md, "Result
// header".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"
#include "workunits/sealed.h"

namespace quorate {

struct Nonce : FixedBytes<32> {};

enum class ComputeOutcome : std::uint8_t {
  success = 1,
  // A batch loss or a parameter was not finite: an honest end, compared like
  // any other result.
  diverged = 2,
};

// The part of a header that depends on the workunit alone: two replicas agree
// when their claim hashes are equal.
struct Claim {
  Hash update;                // of the update's bytes; zero if diverged
  std::vector<Hash> digests;  // of the state, every digest_every steps
  std::uint64_t samples = 0;
  std::uint32_t loss_bits = 0;  // mean batch loss as binary32 bits
  ComputeOutcome outcome = ComputeOutcome::success;
  std::uint32_t diverged_step = 0;  // 1-based; 0 if success

  bool operator==(const Claim&) const = default;
};
Hash claim_hash(const Claim& claim);

struct ResultHeader {
  std::uint64_t result_id = 0;
  Nonce nonce;  // fresh for every assignment
  Hash workunit;
  PublicKey host;
  Claim claim;
  std::string device;  // device_text()
  std::uint32_t arithmetic = 0;
  Hash proof;  // shows that the host held the update: update_proof()
};

// SHA-256("quorate proof v1", a zero byte, nonce, host key, update bytes,
// digest list).
Hash update_proof(const Nonce& nonce, const PublicKey& host, ByteView update,
                  const std::vector<Hash>& digests);

Bytes encode(const ResultHeader& header);
// Throws corrupt; lists are bounded (8 digests, 64 bytes of device).
ResultHeader decode_result_header(ByteView bytes);
// The device that a header names; empty if the bytes are none, as those of a
// result that was not reported.
std::string device_in(ByteView header);

struct SignedHeader {
  Bytes bytes;
  Signature signature;
};
// The signature covers a domain, the project and the bytes.
SignedHeader sign_header(const ResultHeader& header, const ProjectId& project,
                         const PrivateKey& host);
// The signed header of a claim that this host computed. header: what else it
// says; claim, host and proof are set here. update: the bytes that the claim
// names; none if it diverged.
SignedHeader sign_claim(ResultHeader header, Claim claim, ByteView update,
                        const ProjectId& project, const PrivateKey& host);
bool verify_header(const SignedHeader& header, const ProjectId& project,
                   const PublicKey& host);

}  // namespace quorate
