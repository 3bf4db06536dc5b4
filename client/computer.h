// The workers of this machine and which task each computes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/governor.h"
#include "client/mailbox.h"
#include "client/worker_slot.h"
#include "workunits/workunit.h"

namespace quorate::client {

// What a worker says about a task.
struct Computed {
  Claim claim;
};
struct Stepped {
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
};
struct Stopped {};   // with a checkpoint
struct Refused {     // the task cannot be computed
  std::string kind;  // of the worker's error
  std::string why;
};
struct Lost {  // the worker ended under it
  std::string why;
};
using ComputeNews = std::variant<Computed, Stepped, Stopped, Refused, Lost>;

// Belongs to the agent's thread.
class Computer {
 public:
  using Listener = std::function<void(ResultId, const ComputeNews&)>;

  // Starts `count` workers. The listener runs on the agent's thread.
  Computer(const protocol::WorkerOptions& options, std::uint32_t count,
           Mailbox& mailbox, Listener listener);
  // Stops all workers, with checkpoints, within about kStopTime.
  ~Computer();

  // From now on the workers compute with these; those that do otherwise are
  // replaced, their tasks stopped.
  void set_limits(const Orders& orders);
  // Of the workers that run.
  std::vector<int> pids() const;

  // There is a worker, and nothing for it to do.
  bool is_free() const;
  // What the workers compute on; null until the first one is ready.
  const protocol::WorkerReady* ready() const;
  // Why there will be no worker: the device cannot serve.
  const std::optional<Error>& broken() const { return broken_; }
  // Operations per second of one worker, from its last result; 0: unknown.
  double speed_flops() const { return speed_flops_; }

  // Gives the task to a free worker. step_operations: floating-point
  // operations of one step, to measure the speed.
  void start(ResultId result, protocol::ComputeRequest request,
             double step_operations);
  // Tells the worker of a task to stop; Stopped (or its end) follows.
  void stop(ResultId result);

 private:
  struct Slot {
    std::unique_ptr<WorkerSlot> worker;
    bool is_ready = false;
    ResultId result = 0;  // 0: idle
    std::uint64_t job = 0;
    double step_operations = 0;
  };
  void on_event(std::size_t index, const WorkerEvent& event);
  void on_reply(Slot& slot, const protocol::WorkerReply& reply);
  void on_ended(Slot& slot, const WorkerEnded& ended);
  void on_done(Slot& slot, const protocol::ComputeDone& done);
  // The slot becomes idle; its listener hears why.
  void finish(Slot& slot, const ComputeNews& news);

  protocol::WorkerOptions options_;
  Listener listener_;
  std::vector<Slot> slots_;
  std::uint64_t last_job_ = 0;
  std::optional<protocol::WorkerReady> ready_;
  std::optional<Error> broken_;
  double speed_flops_ = 0;
};

}  // namespace quorate::client
