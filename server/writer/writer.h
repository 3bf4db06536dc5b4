// The one thread that changes the project. Requests and daemons post jobs; all
// jobs that wait at one moment share a transaction (group commit), and what
// they owe to the outside (replies, wake-ups) happens after it is durable.
//
// The room server/writer is that thread, and JobThread for slow work that
// changes nothing. It knows jobs and the store's begin and commit, nothing of
// their content, and may include server/store.
//
// A job reports an expected error to whoever asked; an exception that leaves a
// job means that store and memory may differ, and ends the process: a restart
// rebuilds memory from the store.
//
// Rejected: a lock around the project's memory. Every reader would have to wait
// for commits, and each change would cost a sync of the disk of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "server/store/store.h"

namespace quorate {

// A function that is called once and may own what cannot be copied.
class Job {
 public:
  Job() = default;
  template <class F>
  Job(F f) : body_(std::make_unique<Body<F>>(std::move(f))) {}
  void operator()() { body_->run(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct Body final : Base {
    explicit Body(F f) : function(std::move(f)) {}
    void run() override { function(); }
    F function;
  };
  std::unique_ptr<Base> body_;
};

class Writer {
 public:
  // on_fatal is called once, on the writer's thread, with what went wrong.
  // before_commit makes durable what the transaction refers to outside the
  // store.
  Writer(
      Store& store, const Clock& clock,
      std::function<void(const std::string&)> on_fatal,
      std::function<void()> before_commit = [] {});
  ~Writer();

  void start();
  // Runs what was posted, then ends the thread.
  void stop();

  // From any thread; returns at once. Jobs run in the order in which they were
  // posted. Dropped, with what it owns, once the writer has failed.
  void post(Job job);
  // What was posted so far, on the caller's thread and in one transaction;
  // false if that is nothing. Only while it is not started.
  bool run_posted();
  // The same, not before `when`. A job that waits when stop() is called never
  // runs.
  void post_at(Instant when, Job job);
  // Runs a job and waits until it is durable. Before start() and after stop()
  // the caller's thread does it. Never from within a job, which would wait for
  // itself. Throws what the job threw, and then nothing was changed: such a job
  // must throw before its first change. Throws io once the writer has failed.
  void run(const std::function<void()>& job);

  // From within a job: calls `effect` on this thread once the job's changes are
  // durable, in the order of these calls. An effect must not throw, and changes
  // nothing: it posts.
  void after_commit(Job effect);
  // From within a job: all that was posted before then has run. What is posted
  // while a job takes long waits.
  Instant heard_until() const;

 private:
  struct Timed {
    Instant when;
    std::uint64_t order;
    std::shared_ptr<Job> job;
    bool operator>(const Timed& other) const {
      return std::tie(when, order) > std::tie(other.when, other.order);
    }
  };

  void loop();
  std::vector<Job> next_batch();
  void run_batch(std::vector<Job>& batch);
  // After a failure nothing is done any more; who waits in run() is told.
  void drop_all();

  Store& store_;
  const Clock& clock_;
  std::function<void(const std::string&)> on_fatal_;
  std::function<void()> before_commit_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> queue_;
  Instant taken_{};        // when the batch that runs was
  Instant heard_until_{};  // when the one before was
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> timers_;
  std::uint64_t timer_order_ = 0;
  bool stopping_ = false;
  bool running_ = false;
  bool has_failed_ = false;
  std::vector<Job> effects_;
  std::thread thread_;
};

}  // namespace quorate
