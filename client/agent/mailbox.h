// Where other threads leave what the agent's thread shall do next. All state of
// the agent belongs to its one thread; the others only bring news.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "base/clock.h"

namespace quorate::client {

// Unbounded: each piece of news answers something that the agent began.
class Mailbox {
 public:
  // From any thread.
  void post(std::function<void()> news);
  // Runs what was posted, in order; waits up to `patience` for the first.
  void deliver(Seconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> news_;
};

}  // namespace quorate::client
