// Computes workunits and evaluates parameters on one device: objects from
// files, results into files. Model, buffers and checked files are kept from job
// to job, since units of a tenth of a second are common.
//
// The room client/worker/units is a job from sealed task to update, whoever
// asked for it. It trusts nobody: seals, hashes and sizes are checked here,
// also if the agent did. It owns mapped files and what training needs, and may
// include workunits/training and kernels/. One thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "client/worker/units/job.h"
#include "client/worker/units/verified_files.h"
#include "kernels/backend.h"
#include "protocol/worker/messages.h"

namespace quorate::worker {

class UnitRunner {
 public:
  UnitRunner(Backend& backend, const Clock& clock)
      : backend_(backend), clock_(clock) {}

  // Checks seal, task, snapshot and shard; goes on from the checkpoint if it
  // fits; the update file is durable on return. Returns ComputeDone,
  // ComputeDiffers for a claim that is false, or WorkerStopped. Throws corrupt,
  // io, or unsupported for a task that this program cannot compute.
  protocol::WorkerReply compute(const protocol::ComputeRequest& request,
                                Job& job);
  // Returns EvaluateDone or WorkerStopped. Throws corrupt, io.
  protocol::WorkerReply evaluate(const protocol::EvaluateRequest& request,
                                 Job& job);

 private:
  Backend& backend_;
  const Clock& clock_;
  VerifiedFiles files_;
};

}  // namespace quorate::worker
