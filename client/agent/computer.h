// The workers of this machine and which task each computes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/agent/mailbox.h"
#include "client/agent/work_fetch.h"
#include "client/agent/worker_slot.h"
#include "client/permission/governor.h"
#include "workunits/workunit.h"

namespace quorate::client {

// What a worker says about a task.
struct Computed {
  Claim claim;
  protocol::WorkerReady by;
};
struct Stepped {
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
};
struct Stopped {};   // with a checkpoint, unless a step took too long
struct Refused {     // the task cannot be computed
  std::string kind;  // of the worker's error
  std::string why;
};
struct Lost {  // the worker ended under it
  std::string why;
  bool has_aborted = false;  // by itself: the task may be why
};
using ComputeNews = std::variant<Computed, Stepped, Stopped, Refused, Lost>;

// Belongs to the agent's thread.
class Computer {
 public:
  using Listener = std::function<void(ResultId, const ComputeNews&)>;

  // Starts a worker for each of the options, best first. The listener runs on
  // the agent's thread. stop_patience: as kStopPatience.
  Computer(const std::vector<protocol::WorkerOptions>& workers,
           Mailbox& mailbox, Listener listener, Seconds stop_patience);
  // Stops all workers, with checkpoints, within about kStopTime.
  ~Computer();

  // From now on the workers compute with these; those that do otherwise are
  // replaced, their tasks stopped.
  void set_limits(const Orders& orders);
  // Of the workers that run.
  std::vector<int> pids() const;

  // The devices whose workers were not given up.
  std::vector<DeviceWorkers> devices() const;
  // Of one worker on that device, from its last result; 0: unknown.
  double speed_of(const std::string& device) const;
  // What was measured there led to a wrong estimate: it is measured anew.
  void forget_speed(const std::string& device);
  // What each worker computes on, by its own words; without those that never
  // said.
  std::vector<std::string> names() const;
  // How far they are confined, by their words: of those the least. Empty: no
  // worker has said.
  std::string confinement() const;
  // Why workers were given up: their devices cannot serve.
  const std::vector<std::string>& given_up() const { return given_up_; }
  // Why there will be no worker at all.
  const std::optional<Error>& broken() const { return broken_; }

  // There is a worker for such a task, and nothing for it to do.
  bool is_free_for(const Task& task) const;
  // Gives the task to a worker that is free for it, and notes its device.
  // step_operations: floating-point operations of one step, to measure the
  // speed.
  void start(Task& task, protocol::ComputeRequest request,
             double step_operations);
  // Tells the worker of a task to stop; Stopped (or its end) follows.
  void stop(ResultId result);

 private:
  struct Slot {
    protocol::WorkerOptions options;
    std::unique_ptr<WorkerSlot> worker;  // null: given up
    bool is_ready = false;
    std::optional<protocol::WorkerReady> ready;  // its last
    double speed_flops = 0;  // from its last result, with these options; 0:
                             // unknown
    ResultId result = 0;     // 0: idle
    std::uint64_t job = 0;
    double step_operations = 0;
  };
  // The index of a slot that is free for the task; the number of slots if there
  // is none.
  std::size_t slot_for(const Task& task) const;
  void on_event(std::size_t index, const WorkerEvent& event);
  void on_reply(Slot& slot, const protocol::WorkerReply& reply);
  void on_ended(Slot& slot, const WorkerEnded& ended);
  void on_done(Slot& slot, const protocol::ComputeDone& done);
  void give_up(Slot& slot, const WorkerEnded& ended);
  // The slot becomes idle; its listener hears why.
  void finish(Slot& slot, const ComputeNews& news);

  Listener listener_;
  std::vector<Slot> slots_;
  std::uint64_t last_job_ = 0;
  std::vector<std::string> given_up_;
  std::optional<Error> broken_;
};

}  // namespace quorate::client
