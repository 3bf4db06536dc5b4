#include "server/writer/job_thread.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace quorate {

JobThread::~JobThread() {
  stop();
}

void JobThread::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void JobThread::post(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    queue_.push_back(std::move(job));
  }
  wake_.notify_all();
}

// Whoever waits for it is answered by what it owns, when that goes.
void JobThread::run(Job& job) {
  try {
    job();
  } catch (const std::exception& error) {
    log_error("job_failed", {{"error", error.what()}});
  }
}

void JobThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (is_stopping_) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run(job);
    job = Job();  // what it owns goes now, not with the next job
    lock.lock();
  }
}

}  // namespace quorate
