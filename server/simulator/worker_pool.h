// Worker processes that compute what simulated hosts have computed: as many
// jobs at a time as there are workers, what is needed first before the rest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "protocol/worker/worker_process.h"

namespace quorate {

// Real threads and processes: the virtual clock stands still while the
// simulation waits for a reply. The destructor ends the workers; whoever still
// waits then gets an exception.
class WorkerPool {
 public:
  using Reply = std::shared_future<protocol::WorkerReply>;
  using JobId = std::uint64_t;

  WorkerPool(std::uint32_t workers, const protocol::WorkerOptions& options);
  ~WorkerPool();

  struct Job {
    JobId id = 0;
    Reply reply;  // throws unavailable if three tries failed
  };
  // due: what is due earlier is done earlier. The request's `job` is set.
  Job run(protocol::WorkerRequest request, Seconds due);
  // Nobody wants it any more: not done if it is not begun.
  void drop(JobId id);

 private:
  struct Waiting {
    protocol::WorkerRequest request;
    std::promise<protocol::WorkerReply> promise;
  };

  void loop(const std::stop_token& stop);
  protocol::WorkerReply compute(
      const protocol::WorkerRequest& request,
      std::unique_ptr<protocol::WorkerProcess>& worker,
      const std::stop_token& stop) const;
  protocol::WorkerReply answer_of(protocol::WorkerProcess& worker,
                                  const std::stop_token& stop) const;

  protocol::WorkerOptions options_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  JobId last_id_ = 0;
  // Those that wait, the one that is due first at the front.
  std::map<std::pair<Seconds, JobId>, Waiting> jobs_;
  std::map<JobId, Seconds> due_;  // of those that wait
  std::vector<std::jthread> threads_;
};

}  // namespace quorate
