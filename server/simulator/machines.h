// All machines of a simulation: what happens to each when its time comes. They
// do what the volunteer's client does: ask, load, compute with the next unit at
// hand, report, ask again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/simulator/counters.h"
#include "server/simulator/event_queue.h"
#include "server/simulator/gradients.h"
#include "server/simulator/host_reports.h"
#include "server/simulator/machine.h"
#include "server/simulator/simulated_project.h"

namespace quorate {

class Machines {
 public:
  // All of these outlive it.
  Machines(const Scenario& scenario, SimulatedProject& project,
           Gradients& gradients, HostReports& reports, EventQueue& events,
           Counters& counters);

  // One event whose time is `now`.
  void happen(const PlannedEvent& event);
  // What the server has answered meanwhile to those who waited.
  void take_answers(Seconds now);
  // Brings the counters of time and cost up to date.
  void look(Seconds now);
  std::size_t there() const { return there_; }
  // The share of their time for which the workers of each kind of hosts
  // computed, up to the last look.
  std::map<std::string, double> busy() const;
  // Of all workers together, for one run.
  Seconds computing(RunKey run) const;

 private:
  struct Answered {
    std::uint32_t machine;
    std::uint32_t question;
    WorkAnswer reply;
  };

  void plan(std::uint32_t number, EventKind kind, Seconds at,
            ResultId result = 0);
  void join(std::uint32_t number, Seconds now);
  void register_host(Machine& machine, std::uint32_t number);
  void come(std::uint32_t number, Seconds now);
  void leave(std::uint32_t number, Seconds now);
  void lose(std::uint32_t number, Seconds now);
  void go(std::uint32_t number, Seconds now);
  void was_there(Machine& machine, Seconds now);
  void ask(std::uint32_t number, Seconds now,
           std::optional<ResultId> given_up = {});
  void heartbeat(std::uint32_t number, Seconds now);
  WorkWish request_of(const Machine& machine) const;
  void take_answer(const Answered& answered, Seconds now);
  void accept(std::uint32_t number, const Assignment& assignment, Seconds now);
  std::uint64_t bytes_of_update(RunKey run, const TrainingTask& task);
  static std::uint64_t load_snapshot(Machine& machine,
                                     const Assignment& assignment,
                                     const ObjectRef& snapshot);
  void load(std::uint32_t number, MachineTask& task,
            const Assignment& assignment, Seconds now);
  void downloaded(std::uint32_t number, ResultId result, Seconds now);
  void start_ready(std::uint32_t number, Seconds now);
  void compute(std::uint32_t number, MachineTask& task, Seconds now);
  void computed(std::uint32_t number, ResultId result, Seconds now);
  void uploaded(std::uint32_t number, ResultId result, Seconds now);
  bool waits_for_turn(std::uint32_t number, MachineTask& task, Seconds now);
  void drop(Machine& machine, ResultId result);
  void drop_all(Machine& machine);
  void resume(std::uint32_t number, Seconds now);

  const Scenario& scenario_;
  SimulatedProject& project_;
  Gradients& gradients_;
  HostReports& reports_;
  EventQueue& events_;
  Counters& counters_;
  std::vector<Machine> machines_;
  std::vector<Answered> answers_;
  std::vector<PublicKey> accounts_;               // of the users, in turn
  std::map<RunKey, std::uint64_t> update_bytes_;  // of every unit of a run
  std::map<RunKey, Seconds> computing_;
  std::size_t there_ = 0;
  Seconds server_free_{0};  // when it has time for the next report
};

}  // namespace quorate
