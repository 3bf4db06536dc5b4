#include "kernels/cpu/thread_pool.h"

#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include "base/error.h"
#include "kernels/float_environment.h"

namespace quorate {
namespace {

// Operations follow each other closely, and waking a thread that sleeps takes
// longer than this. Longer, and an idle thread would burn a processor.
constexpr std::chrono::microseconds kSpin{10};

template <class F>
void spin_until(const F& is_done) {
  auto end = std::chrono::steady_clock::now() + kSpin;
  while (!is_done() && std::chrono::steady_clock::now() < end) hwy::Pause();
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) {
  check(threads >= 1, "a thread pool needs at least one thread");
  workers_.reserve(threads - 1);
  try {
    for (unsigned i = 1; i < threads; ++i) {
      workers_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error& error) {
    stop();
    throw Error(ErrorKind::io,
                fmt::format("starting {} threads: {}; use fewer threads",
                            threads, error.what()));
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
}

void ThreadPool::run_tasks(std::size_t count, const Task& task) {
  CanonicalFloatMode mode;
  if (count <= 1 || workers_.empty()) {
    for (std::size_t i = 0; i < count; ++i) task.call(task.on, i, 0);
    return;
  }
  std::unique_lock lock(mutex_);
  task_ = task;
  next_ = 0;
  count_ = count;
  ++batch_;
  started_.notify_all();
  take_tasks(lock, 0);
  if (running_ != 0) {
    lock.unlock();
    spin_until([this] { return running_ == 0; });
    lock.lock();
  }
  finished_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work(unsigned thread) {
  CanonicalFloatMode mode;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [this] { return stopping_ || next_ < count_; });
    if (stopping_) return;
    take_tasks(lock, thread);
    unsigned seen = batch_;
    lock.unlock();
    spin_until([this, seen] { return batch_ != seen; });
    lock.lock();
  }
}

void ThreadPool::take_tasks(std::unique_lock<std::mutex>& lock,
                            unsigned thread) {
  while (next_ < count_) {
    std::size_t index = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task_.call(task_.on, index, thread);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure && !failure_) failure_ = failure;
  }
  if (running_ == 0) finished_.notify_one();
}

}  // namespace quorate
