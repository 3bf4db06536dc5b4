#include "server/merging/step_threads.h"

#include <utility>

namespace quorate {

void StepThreads::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (const auto& thread : threads_) thread->stop();
}

void StepThreads::start(StepPart, const Run& run, WorkunitId, Job work,
                        Job done) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  while (threads_.size() < run.assimilators) {
    threads_.push_back(std::make_unique<JobThread>());
  }
  threads_[next_++ % threads_.size()]->post(
      [this, work = std::move(work), done = std::move(done)]() mutable {
        work();
        post_(std::move(done));
      });
}

}  // namespace quorate
