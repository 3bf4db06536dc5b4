// Grammar of a header, all integers little-endian:
//   "QRTHEAD1", result id u64, nonce [32], workunit [32], host key [32],
//   update [32], digest count u32 (0 to 8), digests [32] each, samples u64,
//   loss bits u32, outcome u8, diverged step u32,
//   device: length u32 (0 to 64) and that many bytes, arithmetic u32,
//   proof [32].
#include "workunits/result_header.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/device_text.h"
#include "workunits/domain_hash.h"

namespace quorate {
namespace {

constexpr std::string_view kMagic = "QRTHEAD1";
constexpr std::uint32_t kMaxDigests = 8;

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorKind::corrupt, "result header: " + why);
}

// The claim as it stands in a header and, after the domain, in its hash.
void put_claim(ByteWriter& out, const Claim& claim) {
  out.put_bytes(claim.update.view());
  out.put(static_cast<std::uint32_t>(claim.digests.size()));
  for (const Hash& digest : claim.digests) out.put_bytes(digest.view());
  out.put(claim.samples);
  out.put(claim.loss_bits);
  out.put(static_cast<std::uint8_t>(claim.outcome));
  out.put(claim.diverged_step);
}

void check_outcome(const Claim& claim, std::uint8_t outcome) {
  bool diverged = claim.outcome == ComputeOutcome::diverged;
  if (!diverged && claim.outcome != ComputeOutcome::success) {
    reject(fmt::format("unknown outcome {}", outcome));
  }
  if (diverged != (claim.diverged_step != 0)) {
    reject(fmt::format("outcome {} and diverged step {} do not go together",
                       outcome, claim.diverged_step));
  }
  if (diverged != claim.update.is_zero()) {
    reject("an update hash is zero if the training diverged, and only then");
  }
}

Claim get_claim(ByteReader& reader) {
  Claim claim;
  reader.get_bytes(claim.update.bytes);
  auto count = reader.get<std::uint32_t>();
  if (count > kMaxDigests) {
    reject(fmt::format("{} digests, allowed are {}", count, kMaxDigests));
  }
  claim.digests.resize(count);
  for (Hash& digest : claim.digests) reader.get_bytes(digest.bytes);
  claim.samples = reader.get<std::uint64_t>();
  claim.loss_bits = reader.get<std::uint32_t>();
  auto outcome = reader.get<std::uint8_t>();
  claim.outcome = static_cast<ComputeOutcome>(outcome);
  claim.diverged_step = reader.get<std::uint32_t>();
  check_outcome(claim, outcome);
  return claim;
}

// A host chooses this text and people read it: printable ASCII.
std::string get_device(ByteReader& reader) {
  std::string device = reader.get_text(kMaxDeviceText);
  if (!std::all_of(device.begin(), device.end(),
                   [](char c) { return c >= ' ' && c <= '~'; })) {
    reject("the device is not printable ASCII");
  }
  return device;
}

Hash signed_digest(ByteView bytes, const ProjectId& project) {
  return domain_hash("quorate header v1",
                     {project.view(), sha256(bytes).view()});
}

}  // namespace

Hash claim_hash(const Claim& claim) {
  ByteWriter out;
  put_claim(out, claim);
  return domain_hash("quorate claim v1", {out.take()});
}

Hash update_proof(const Nonce& nonce, const PublicKey& host, ByteView update,
                  const std::vector<Hash>& digests) {
  ByteWriter list;
  for (const Hash& digest : digests) list.put_bytes(digest.view());
  return domain_hash("quorate proof v1",
                     {nonce.view(), host.view(), update, list.take()});
}

Bytes encode(const ResultHeader& header) {
  ByteWriter out;
  out.put_bytes(as_bytes(kMagic));
  out.put(header.result_id);
  out.put_bytes(header.nonce.view());
  out.put_bytes(header.workunit.view());
  out.put_bytes(header.host.view());
  put_claim(out, header.claim);
  out.put_text(header.device);
  out.put(header.arithmetic);
  out.put_bytes(header.proof.view());
  return out.take();
}

ResultHeader decode_result_header(ByteView bytes) {
  ByteReader reader(bytes, "result header");
  if (as_text(reader.take(kMagic.size())) != kMagic) {
    reject("does not begin with " + std::string(kMagic));
  }
  ResultHeader header;
  header.result_id = reader.get<std::uint64_t>();
  reader.get_bytes(header.nonce.bytes);
  reader.get_bytes(header.workunit.bytes);
  reader.get_bytes(header.host.bytes);
  header.claim = get_claim(reader);
  header.device = get_device(reader);
  header.arithmetic = reader.get<std::uint32_t>();
  reader.get_bytes(header.proof.bytes);
  reader.expect_end();
  return header;
}

std::string device_in(ByteView header) {
  if (header.empty()) return "";
  try {
    return decode_result_header(header).device;
  } catch (const Error&) {
    return "";
  }
}

SignedHeader sign_header(const ResultHeader& header, const ProjectId& project,
                         const PrivateKey& host) {
  SignedHeader result;
  result.bytes = encode(header);
  result.signature = host.sign(signed_digest(result.bytes, project).view());
  return result;
}

SignedHeader sign_claim(ResultHeader header, Claim claim, ByteView update,
                        const ProjectId& project, const PrivateKey& host) {
  header.host = host.public_key();
  header.proof = update_proof(header.nonce, header.host, update, claim.digests);
  header.claim = std::move(claim);
  return sign_header(header, project, host);
}

bool verify_header(const SignedHeader& header, const ProjectId& project,
                   const PublicKey& host) {
  return verify(host, signed_digest(header.bytes, project).view(),
                header.signature);
}

}  // namespace quorate
