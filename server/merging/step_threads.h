// The helpers of a project that is served: threads, as many as the run with the
// most assimilators has. The writer's thread only reads and writes models.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "server/merging/step_helpers.h"
#include "server/writer/job_thread.h"

namespace quorate {

class StepThreads final : public StepHelpers {
 public:
  // post: a job for the writer, followed by settle(); from any thread.
  explicit StepThreads(std::function<void(Job)> post)
      : post_(std::move(post)) {}

  // Steps under way are ended, those that wait are dropped: their units are
  // validated, and taken at the next start. From any thread.
  void stop();

  // From the writer's thread.
  bool help(const Run& run) const override { return run.assimilators > 1; }
  void start(StepPart part, const Run& run, WorkunitId unit, Job work,
             Job done) override;

 private:
  std::function<void(Job)> post_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<JobThread>> threads_;
  std::size_t next_ = 0;
  bool is_stopped_ = false;
};

}  // namespace quorate
