#include "server/writer/writer.h"

#include <future>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace quorate {

Writer::Writer(Store& store, const Clock& clock,
               std::function<void(const std::string&)> on_fatal,
               std::function<void()> before_commit)
    : store_(store),
      clock_(clock),
      on_fatal_(std::move(on_fatal)),
      before_commit_(std::move(before_commit)) {}

Writer::~Writer() {
  stop();
}

void Writer::start() {
  std::lock_guard lock(mutex_);
  check(!running_, "the writer is already running");
  running_ = true;
  stopping_ = false;
  taken_ = heard_until_ = clock_.now();
  thread_ = std::thread([this] { loop(); });
}

void Writer::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  for (;;) {
    loop();  // what was posted since the thread ended
    std::lock_guard lock(mutex_);
    if (!queue_.empty()) continue;
    running_ = false;
    return;
  }
}

void Writer::post(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (has_failed_) return;
    queue_.push_back(std::move(job));
  }
  wake_.notify_all();
}

void Writer::post_at(Instant when, Job job) {
  {
    std::lock_guard lock(mutex_);
    if (has_failed_) return;
    timers_.push({when, timer_order_++, std::make_shared<Job>(std::move(job))});
  }
  wake_.notify_all();
}

void Writer::run(const std::function<void()>& job) {
  std::exception_ptr failure;
  auto guarded = [&] {
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  std::future<void> durable;
  std::vector<Job> own;
  {
    // At once: a writer that stopped in between would never do it.
    std::lock_guard lock(mutex_);
    if (running_ || has_failed_) {
      auto done = std::make_shared<std::promise<void>>();
      durable = done->get_future();
      if (!has_failed_) {
        queue_.push_back([this, &guarded, done = std::move(done)] {
          guarded();
          after_commit([done] { done->set_value(); });
        });
      }
    } else {
      own.emplace_back(guarded);
    }
  }
  if (!own.empty()) {
    run_batch(own);
  } else {
    wake_.notify_all();
    try {
      durable.get();
    } catch (const std::future_error&) {  // the job was dropped
      throw Error(ErrorKind::io, "the store failed before this was done");
    }
  }
  if (failure) std::rethrow_exception(failure);
}

bool Writer::run_posted() {
  std::vector<Job> batch;
  {
    std::lock_guard lock(mutex_);
    check(!running_, "the writer's own thread runs what is posted");
    batch = std::exchange(queue_, {});
  }
  if (batch.empty()) return false;
  run_batch(batch);
  return true;
}

void Writer::after_commit(Job effect) {
  effects_.push_back(std::move(effect));
}

Instant Writer::heard_until() const {
  std::lock_guard lock(mutex_);
  return running_ ? heard_until_ : clock_.now();
}

std::vector<Job> Writer::next_batch() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const Instant now = clock_.now();
    while (!timers_.empty() && timers_.top().when <= now) {
      queue_.push_back(std::move(*timers_.top().job));
      timers_.pop();
    }
    if (!queue_.empty() || stopping_) {
      heard_until_ = std::exchange(taken_, now);
      return std::exchange(queue_, {});
    }
    if (timers_.empty()) {
      wake_.wait(lock);
    } else {
      wake_.wait_for(lock, timers_.top().when - now);
    }
  }
}

void Writer::run_batch(std::vector<Job>& batch) {
  store_.begin();
  try {
    for (Job& job : batch) job();
    before_commit_();
    store_.commit();
  } catch (...) {
    effects_.clear();
    store_.rollback();
    throw;
  }
  std::vector<Job> effects = std::exchange(effects_, {});
  for (Job& effect : effects) effect();
}

void Writer::drop_all() {
  std::vector<Job> queue;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> timers;
  {
    std::lock_guard lock(mutex_);
    has_failed_ = true;
    std::swap(queue, queue_);
    std::swap(timers, timers_);
  }
  effects_.clear();
}

void Writer::loop() {
  try {
    for (;;) {
      std::vector<Job> batch = next_batch();
      if (batch.empty()) return;
      run_batch(batch);
    }
  } catch (const std::exception& failure) {
    drop_all();
    log_error("writer failed", {{"why", failure.what()}});
    on_fatal_(failure.what());
  }
}

}  // namespace quorate
