#include "server/simulator/host_reports.h"

#include <algorithm>

#include "server/house/compute_request.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

// A small change of one value: plausible, and another for each salt.
void add_noise(std::vector<float>& update, std::uint64_t salt) {
  float& value = update[salt % update.size()];
  value = value * 1.5F + 1e-3F * static_cast<float>(1 + salt % 1000);
}

Bytes falsified(const TrainingTask& task, ByteView honest, Falsehood how,
                std::uint64_t salt) {
  std::vector<float> update = decode_update(task, honest, "update");
  switch (how) {
    case Falsehood::none:
      break;
    case Falsehood::noise:
      add_noise(update, salt);
      break;
    case Falsehood::sign_flip:
      for (float& value : update) value = -value;
      break;
    case Falsehood::lazy:
      std::fill(update.begin(), update.end(), 0.0F);
      break;
  }
  return encode_update(task, update);
}

// Hosts that do not conspire are false in ways of their own.
Hash digest_of(std::uint64_t salt) {
  Hash digest;
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&salt), sizeof salt,
              digest.bytes.begin());
  return digest;
}

}  // namespace

bool HostReports::report(HostId host, ResultId result, const PrivateKey* key,
                         Falsehood falsehood, std::uint64_t salt) {
  ProjectState& state = project_.state();
  std::optional<OpenResult> open = state.open_results.find(result);
  if (!open || open->host != host) return false;
  const ScreenedReport report = screened(*open, key, falsehood, salt);
  bool is_accepted = false;
  project_.job([&] {
    state.hosts.touch(*state.hosts.host(host), state.clock.now(),
                      state.clock.unix_ms());
    is_accepted =
        project_.daemons().reports.store(host, result, report).accepted;
  });
  return is_accepted;
}

ScreenedReport HostReports::screened(OpenResult& open, const PrivateKey* key,
                                     Falsehood falsehood, std::uint64_t salt) {
  const Finding& finding = gradients_.of(open.workunit);
  ResultHeader header = header_of(open, finding.device);
  Claim claim = finding.claim;
  if (falsehood != Falsehood::none && !claim.digests.empty()) {
    claim.digests.back() = digest_of(salt);
  }
  if (!has_gradients_) {
    header.claim = claim;
    return {{encode(header), {}}, header, claim_hash(claim), {}, false, {}, {}};
  }
  Bytes update;
  if (claim.outcome == ComputeOutcome::success) {
    update = project_.objects().read(claim.update);
    if (falsehood != Falsehood::none) {
      update = falsified(*open.task, update, falsehood, salt);
      claim.update = project_.objects().put(update);
    }
    if (!open.is_witness) {
      open.uploaded = claim.update;
      open.uploaded_bytes = update.size();
    }
  }
  return project_.daemons().reports.screen(
      open, sign_claim(header, claim, update, project_.keys().id, *key));
}

}  // namespace quorate
