// Computes units of a ledger once more, with a worker process of its own, and
// says whether a recorded claim is true. What a unit started from comes from a
// replay, never from the snapshots that the project stored.
//
// The room server/rechecking doubts what was believed: it owns a thread, a
// worker process and files in tmp/ while it works. Of the project's memory it
// gets copies, from the writer. It may include server/merging and all before
// it. For one thread, which waits as long as the unit takes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/file.h"
#include "protocol/worker/worker_process.h"
#include "validator/timeline.h"
#include "workunits/claim_difference.h"
#include "workunits/objects/object_store.h"

namespace quorate {

class Recomputer {
 public:
  // scratch: folder for files of its own; made if it is not there.
  // tick: called several times a second while a worker computes; what it throws
  // ends the computing and passes.
  Recomputer(const protocol::WorkerOptions& options,
             const LedgerSources& sources, const ObjectReader& objects,
             fs::path scratch, std::function<void()> tick);

  // Where the claim of the result is false; nullopt if it is true. The worker
  // stops at the first state that differs.
  // claim: the one that the entry has the hash of, if it is known; without it
  // the unit is computed to its end, and the stretch is all of it.
  // Throws unsupported or unavailable when the device or the worker fails,
  // corrupt for a shard that is missing.
  std::optional<Stretch> check(const ResultAtHand& result, ByteView sealed,
                               const std::optional<Claim>& claim);
  // Computes the update of a result whose object is gone; nullopt if the
  // claim is false.
  std::optional<Bytes> update_of(const ResultAtHand& result, ByteView sealed);

  // The device's full name: "cpu:avx512".
  const std::string& device();
  double computing_seconds() const { return computing_seconds_; }

 private:
  protocol::ComputeRequest request_for(const ResultAtHand& result,
                                       ByteView sealed);
  protocol::WorkerReply ask(const protocol::ComputeRequest& request);
  protocol::WorkerProcess& worker();

  protocol::WorkerOptions options_;
  const LedgerSources& sources_;
  const ObjectReader& objects_;
  fs::path scratch_;
  std::function<void()> tick_;
  std::unique_ptr<protocol::WorkerProcess> worker_;
  Hash base_;  // of the file there
  double computing_seconds_ = 0;
};

}  // namespace quorate
