// The assimilators of a simulated server: their work is done in no time of
// ours, but takes the virtual time that the scenario says.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "server/merging/step_helpers.h"
#include "server/simulator/scenario/scenario.h"
#include "server/simulator/simulated_project.h"

namespace quorate {

class SimulatedAssimilators final : public StepHelpers {
 public:
  // project: outlives this. From now on its runs' results go through this, if
  // the scenario says how long that takes.
  SimulatedAssimilators(const AssimilatorTimes& times,
                        SimulatedProject& project);
  ~SimulatedAssimilators() override;

  bool help(const Run&) const override { return times_.any(); }
  void start(StepPart part, const Run& run, WorkunitId unit, Job work,
             Job done) override;

  bool is_idle() const { return planned_.empty(); }
  // When the next of them is done; not to be called when is_idle().
  Seconds next_time() const { return planned_.begin()->first.first; }
  // What is done at `now`, the time that next_time() gave.
  void happen(Seconds now);
  void move_to(Seconds now) { now_ = now; }

  // Of all updates that were written, and how long each took from when an
  // assimilator turned to it.
  std::uint64_t updates() const { return updates_; }
  Seconds busy() const { return busy_; }

 private:
  AssimilatorTimes times_;
  SimulatedProject& project_;
  Seconds now_{0};
  std::uint64_t order_ = 0;
  std::map<std::pair<Seconds, std::uint64_t>, Job> planned_;
  std::map<WorkunitId, Seconds> begun_;
  std::uint64_t updates_ = 0;
  Seconds busy_{0};
};

}  // namespace quorate
