#include "validator/screening.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

using Reason = std::optional<std::string>;

// Enough to compare by eye.
template <class Fixed>
std::string brief(const Fixed& value) {
  return value.hex().substr(0, 12);
}

template <class Fixed>
Reason differs(const char* what, const Fixed& expected, const Fixed& found) {
  if (expected == found) return std::nullopt;
  return fmt::format("wrong {}: {} was sent, the header says {}", what,
                     brief(expected), brief(found));
}

Reason screen_identity(const SentResult& sent, const TrainingTask& task,
                       const ResultHeader& header) {
  if (header.result_id != static_cast<std::uint64_t>(sent.result)) {
    return fmt::format("wrong result: {} was sent, the header says {}",
                       sent.result, header.result_id);
  }
  if (auto reason = differs("workunit", sent.workunit, header.workunit)) {
    return reason;
  }
  if (auto reason = differs("host key", sent.host, header.host)) {
    return reason;
  }
  if (auto reason = differs("nonce", sent.nonce, header.nonce)) {
    return reason;
  }
  if (header.arithmetic != task.arithmetic) {
    return fmt::format(
        "wrong arithmetic: the workunit needs version {}, the host computed "
        "with {}; update the worker",
        task.arithmetic, header.arithmetic);
  }
  return std::nullopt;
}

Reason expect_counts(const Claim& claim, std::uint64_t digests,
                     std::uint64_t samples) {
  if (claim.digests.size() != digests) {
    return fmt::format("wrong number of state digests: expected {}, found {}",
                       digests, claim.digests.size());
  }
  if (claim.samples != samples) {
    return fmt::format("wrong number of samples: expected {}, found {}",
                       samples, claim.samples);
  }
  return std::nullopt;
}

Reason screen_success(const Claim& claim, const TrainingTask& task) {
  if (claim.update.is_zero()) {
    return "inconsistent outcome: success without an update";
  }
  if (claim.diverged_step != 0) {
    return fmt::format("inconsistent outcome: success, but diverged at step {}",
                       claim.diverged_step);
  }
  const float loss = float_of_bits(claim.loss_bits);
  if (!all_finite({&loss, 1})) {
    return "inconsistent outcome: success with a loss that is not finite";
  }
  return expect_counts(claim, digest_count(task), task.range.samples());
}

Reason screen_diverged(const Claim& claim, const TrainingTask& task) {
  if (!claim.update.is_zero()) {
    return "inconsistent outcome: diverged, but it names an update";
  }
  if (claim.diverged_step < 1 || claim.diverged_step > task.range.steps) {
    return fmt::format(
        "inconsistent outcome: diverged at step {} of a workunit of {} steps",
        claim.diverged_step, task.range.steps);
  }
  const std::uint32_t steps = claim.diverged_step - 1;
  return expect_counts(claim, steps / task.digest_every,
                       std::uint64_t{steps} * task.range.batch);
}

Reason screen_upload(const SentResult& sent, const TrainingTask& task,
                     const Claim& claim,
                     const std::optional<UploadedUpdate>& upload) {
  if (!upload) {
    const bool needed = sent.upload_expected && !claim.update.is_zero();
    if (!needed) return std::nullopt;
    return "update missing: the header came before the payload was complete";
  }
  if (claim.outcome == ComputeOutcome::diverged) {
    return "inconsistent outcome: diverged, but an update was uploaded";
  }
  if (upload->hash != claim.update) {
    return fmt::format(
        "update differs from its header: the payload's hash is {}, the header "
        "says {}",
        brief(upload->hash), brief(claim.update));
  }
  const std::uint64_t most = update_bytes(task);
  if (upload->size_bytes > most) {
    return fmt::format("update too large: {} bytes, one of this task has {}",
                       upload->size_bytes, most);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> screen_header(
    const SentResult& sent, const TrainingTask& task,
    const ResultHeader& header, bool signature_valid,
    const std::optional<UploadedUpdate>& upload) {
  if (!signature_valid) {
    return "wrong signature: the header is not signed with the host's key";
  }
  if (auto reason = screen_identity(sent, task, header)) return reason;
  const Claim& claim = header.claim;
  if (auto reason = claim.outcome == ComputeOutcome::success
                        ? screen_success(claim, task)
                        : screen_diverged(claim, task)) {
    return reason;
  }
  return screen_upload(sent, task, claim, upload);
}

std::optional<std::string> screen_proof(const ResultHeader& header,
                                        ByteView update) {
  const Hash expected =
      update_proof(header.nonce, header.host, update, header.claim.digests);
  if (header.proof == expected) return std::nullopt;
  return "wrong proof: the host did not hold the update that it claims";
}

ScreenedUpdate screen_update(const TrainingTask& task, ByteView update) {
  try {
    return {std::nullopt, size_of(task, decode_update(task, update, "update"))};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    return {fmt::format("malformed {}", error.what()), {}};
  }
}

}  // namespace quorate
