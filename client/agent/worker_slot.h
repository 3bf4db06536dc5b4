// Keeps one `quorate-worker --serve` process at work, on a thread of its own:
// a crashing GPU driver costs a worker, not the agent. A worker that ends by
// itself is started anew, each time after a longer pause.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "base/error.h"
#include "base/file.h"
#include "client/agent/mailbox.h"
#include "protocol/worker/worker_process.h"

namespace quorate::client {

// The process ended or could not be started; its job, if any, is lost up to
// the last checkpoint.
struct WorkerEnded {
  ErrorKind kind = ErrorKind::unavailable;
  std::string why;
  bool has_aborted = false;  // by itself: its job may be why
};
// The process was ended by restart(), or because it did not stop when it was
// told to; a job that it had is stopped, with a checkpoint if there was time
// for one.
struct WorkerRestarted {};
using WorkerEvent =
    std::variant<protocol::WorkerReply, WorkerEnded, WorkerRestarted>;

class WorkerSlot {
 public:
  // on_event runs on the agent's thread, through the mailbox, which outlives
  // the slot. stop_patience: as kStopPatience.
  WorkerSlot(protocol::WorkerOptions options, Mailbox& mailbox,
             std::function<void(const WorkerEvent&)> on_event,
             Seconds stop_patience);
  // Tells the worker to stop with a checkpoint, waits for it up to kStopTime,
  // then kills it.
  ~WorkerSlot();
  WorkerSlot(const WorkerSlot&) = delete;
  WorkerSlot& operator=(const WorkerSlot&) = delete;

  // Sent when a worker is there; lost with a worker that ends.
  // Any thread may call these; the agent's does.
  void send(protocol::WorkerRequest request);
  // Ends the process as the destructor does, without waiting for it, and starts
  // one with these options: WorkerRestarted and a WorkerReady follow.
  void restart(protocol::WorkerOptions options);
  // Of the process; 0: there is none now.
  int pid() const { return pid_; }
  // Begins what the destructor waits for, so that several slots stop at once.
  void begin_to_leave();

 private:
  // When the present wait for the worker is over.
  Instant give_up_at(Instant heard,
                     const protocol::WorkerOptions& options) const;
  void keep_running(const std::stop_token& stop);
  void converse(protocol::WorkerProcess& worker,
                const protocol::WorkerOptions& options,
                const std::stop_token& stop);
  void end_job(protocol::WorkerProcess& worker);
  protocol::WorkerOptions take_options();
  void forget_requests();
  bool forward_request(protocol::WorkerProcess& worker);
  bool forward_reply(protocol::WorkerProcess& worker, Seconds patience);
  void tell(WorkerEvent event);
  void wait_before_restart(std::uint32_t attempt, const std::stop_token& stop);
  void wake();

  Mailbox& mailbox_;
  std::function<void(const WorkerEvent&)> on_event_;
  FileDescriptor wakeup_;  // eventfd: readable when there is a request
  std::mutex mutex_;
  std::condition_variable_any changed_;
  protocol::WorkerOptions options_;
  std::deque<protocol::WorkerRequest> requests_;
  std::atomic<bool> is_restart_wanted_{false};
  std::atomic<int> pid_{0};
  Seconds stop_patience_;
  bool is_busy_ = false;            // the thread's own: a job is under way
  std::optional<Instant> stop_by_;  // alike: it was told to stop
  std::jthread thread_;             // last: it uses all of the above
};

}  // namespace quorate::client
