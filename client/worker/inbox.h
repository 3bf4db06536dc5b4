// Requests to the worker, read by a thread of their own, so that a stop is seen
// in the middle of a job.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/file.h"
#include "protocol/worker/messages.h"

namespace quorate::worker {

// A compute or evaluate request, or why a line was none.
struct Received {
  std::uint64_t number = 0;  // of the lines, from 1
  std::optional<protocol::WorkerRequest> request;
  std::string error;  // if there is no request
};

class Inbox {
 public:
  // fd: lines of requests. Must stay open as long as this object.
  explicit Inbox(int fd);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // The next request; waits for it. nullopt when the input has ended.
  std::optional<Received> next();
  // True once a stop was read after the line `number`, or the input ended:
  // whoever waits for that job does no more. Any thread.
  bool is_stopped(std::uint64_t number) const {
    return stopped_through_.load(std::memory_order_acquire) >= number;
  }

 private:
  void read_until_end();
  bool read_some(std::string& buffer);
  void take(const std::string& line);
  void end();

  int fd_;
  FileDescriptor wakeup_;  // eventfd: the destructor's word to the thread
  std::atomic<std::uint64_t> stopped_through_{0};
  std::uint64_t lines_ = 0;  // the reading thread's own
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Received> requests_;
  bool has_ended_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace quorate::worker
