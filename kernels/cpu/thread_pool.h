// The threads of one CPU backend. Work is handed out as numbered tasks; which
// thread takes which is not fixed, so tasks write to disjoint places.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quorate {

class ThreadPool {
 public:
  // threads: at least 1, the caller of run() included. Throws io if the system
  // gives no more threads.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const {
    return static_cast<unsigned>(workers_.size()) + 1;
  }

  // task: its number, and the number of the thread that runs it, in
  // [0, threads()), for per-thread scratch memory.
  using Task = std::function<void(std::size_t task, unsigned thread)>;
  // Runs tasks 0 to count-1 in canonical floating-point mode and waits. An
  // exception of a task is rethrown here, the first of several.
  void run(std::size_t count, const Task& task);

 private:
  void work(unsigned thread);
  void stop();
  // Takes tasks of the current batch until none is left.
  void take_tasks(std::unique_lock<std::mutex>& lock, unsigned thread);

  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  const Task* task_ = nullptr;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;  // last: they use the members above
};

}  // namespace quorate
