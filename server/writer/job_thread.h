// A thread that does one job after the other: what takes long and changes
// nothing, so that neither requests nor the writer wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "server/writer/writer.h"

namespace quorate {

class JobThread {
 public:
  // Starts the thread at once.
  JobThread() : thread_([this] { loop(); }) {}
  ~JobThread();

  // Ends the job under way; those that wait, and those to come, are dropped.
  // May be called twice; not from within a job.
  void stop();

  // From any thread. What a job throws is logged, and the thread goes on.
  void post(Job job);

 private:
  static void run(Job& job);
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace quorate
