// What a running job asks of the world around it.
#pragma once

#include <cstdint>

namespace quorate::worker {

// Implemented for our agent (serve.cpp) and for BOINC's client
// (boinc_runtime.h); called by the trainer on the thread that computes. What it
// throws ends the job.
class Job {
 public:
  virtual ~Job() = default;

  // Called between steps: reports, and rests as the owner's limits ask.
  virtual void step_done(std::uint32_t step, std::uint32_t steps) = 0;
  // The job is to end now, after a checkpoint.
  virtual bool should_stop() = 0;
  // True now and then: time to write a checkpoint.
  virtual bool is_checkpoint_due() = 0;
};

}  // namespace quorate::worker
