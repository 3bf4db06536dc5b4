// The threads of one CPU backend. Work is handed out as numbered tasks; which
// thread takes which is not fixed, so tasks write to disjoint places. Who waits
// spins for some microseconds before it sleeps.
//
// Rejected: a task queue with futures, whose allocation and wake-up per task
// cost more than a small layer takes. One batch at a time is all that a backend
// needs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace quorate {

class ThreadPool {
 public:
  // threads: at least 1, the caller of run() included. Throws io if the system
  // gives no more threads.
  explicit ThreadPool(unsigned threads);
  // Stops the threads and waits for them. No run() may be under way.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const {
    return static_cast<unsigned>(workers_.size()) + 1;
  }

  // Runs f(task, thread) for tasks 0 to count-1 in canonical floating-point
  // mode and waits. thread: the number of the thread that runs it, in [0,
  // threads()), for per-thread scratch memory; the caller is 0. If a task
  // throws, the others still run; then the first exception is rethrown here.
  //
  // One caller at a time, and never from within a task: a nested run would wait
  // for itself.
  template <class F>
  void run(std::size_t count, const F& f) {
    run_tasks(count, {&f, [](const void* on, std::size_t i, unsigned thread) {
                        (*static_cast<const F*>(on))(i, thread);
                      }});
  }

 private:
  // A borrowed function: std::function would allocate in every operation.
  struct Task {
    const void* on = nullptr;
    void (*call)(const void* on, std::size_t i, unsigned thread) = nullptr;
  };

  // run(), with the type of f gone.
  void run_tasks(std::size_t count, const Task& task);
  // A thread's life: waits for a batch, takes tasks, spins, until stopping_.
  void work(unsigned thread);
  void stop();
  // Takes tasks of the current batch until none is left. lock is held on entry
  // and on return, and released while a task runs.
  void take_tasks(std::unique_lock<std::mutex>& lock, unsigned thread);

  // Guards all below, except where it says otherwise.
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  Task task_;
  // The next task to take, and how many the batch has.
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  // Changed under the mutex; read without it while a thread spins.
  std::atomic<std::size_t> running_ = 0;
  std::atomic<unsigned> batch_ = 0;  // how many were run
  // The first of this batch; run() takes it out.
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;  // last: they use the members above
};

}  // namespace quorate
