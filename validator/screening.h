// May this reported result enter a quorum at all? Checks of form and of
// belonging, on one result; whether its numbers are right is for the quorum.
// Each function returns why not, in words for the volunteer and the operator,
// or nothing. Pure. The list of reasons: docs/validation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "validator/update_bound.h"
#include "workunits/result_header.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate {

// What the project knows about a result (instance) that it sent out.
struct SentResult {
  ResultId result = 0;
  Nonce nonce;
  Hash workunit;
  PublicKey host;
  bool upload_expected = true;  // false: a witness, whose header is enough
};

// A stored payload.
struct UploadedUpdate {
  Hash hash;
  std::uint64_t size_bytes = 0;
};

// The header against what was sent, the task and what was uploaded.
// signature_valid: verify_header() with the key of the host it was sent to.
// A reason never repeats more than a few digits of what the host sent.
std::optional<std::string> screen_header(
    const SentResult& sent, const TrainingTask& task,
    const ResultHeader& header, bool signature_valid,
    const std::optional<UploadedUpdate>& upload);

// The header's proof against the bytes of the update that it names: empty for
// a diverged result, else the uploaded payload, or for a witness that of the
// result it agrees with.
std::optional<std::string> screen_proof(const ResultHeader& header,
                                        ByteView update);

// Is the payload a well-formed update of the task: as its codec writes some
// values of this model, all finite?
struct ScreenedUpdate {
  std::optional<std::string> rejection;
  UpdateSize size;  // of one that is not rejected
};
ScreenedUpdate screen_update(const TrainingTask& task, ByteView update);

}  // namespace quorate
