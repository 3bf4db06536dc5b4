// Moves workunits through their states: decides with validator/quorum and
// validator/replication, applies here. Used by the writer's thread only.
#pragma once

#include <set>

#include "protocol/native/messages.h"
#include "server/project_state.h"
#include "server/scheduler.h"
#include "server/validation.h"

namespace quorate {

class Transitioner {
 public:
  Transitioner(ProjectState& state, Scheduler& scheduler,
               Validation& validation)
      : state_(state), scheduler_(scheduler), validation_(validation) {}

  // A result's report is stored, or was rejected by screening: the unit may
  // have a quorum or need another replica.
  void on_reported(WorkunitId unit);
  // A host gives a result up.
  void on_failed(HostId host, const protocol::Failure& failure);
  // The run's objects were damaged, and are whole again: who failed at its open
  // units may have them again.
  void forgive(const TrainingRun& training);
  // Takes back results of silent and of banned hosts, for others; hosts that
  // are not proven any more get partners. Call now and then.
  void tick();

  // Looks at one unit, or at all live ones, as if something had just happened
  // to them.
  void pass(WorkunitId unit);
  void pass_all();

  // A unit whose round has closed without it: with a report it may still be
  // credited, else its results are taken back. Here and in the two below `live`
  // may be gone afterwards.
  void close_late(LiveUnit& live);
  // A unit of a branch of the model that was left. Where a check is open or
  // members disagree, it goes on: not for the model, but to find who was false.
  void close(LiveUnit& live);
  // The run has ended.
  void cancel(LiveUnit& live);

  // Validation is somebody else's job, or done by hand: on_reported() only
  // stores. See `quorate serve --roles`.
  void set_validating(bool on) { is_validating_ = on; }

 private:
  // Sets the run's damage if an object that the unit needs is not whole.
  void look_for_damage(const LiveUnit& live);
  void advance(LiveUnit& live);
  void advance_open(LiveUnit& live);
  bool needs_anchor(const LiveUnit& live) const;
  QuorumDecision decide(const LiveUnit& live);
  bool draws_check(LiveUnit& live, const QuorumDecision& decision);
  void begin_check(LiveUnit& live);
  bool needs_house(LiveUnit& live, const QuorumDecision& decision);
  void note_failed_check(const LiveUnit& live);
  void ask_house(LiveUnit& live);
  void replicate(LiveUnit& live, const QuorumDecision& quorum);
  void give_to_others(HostId host);
  void take_back(Result& result, ResultOutcome outcome,
                 const std::string& reason);
  void take_back_unsent(LiveUnit& live);
  void judge_late_results(LiveUnit& live);
  bool only_judges(LiveUnit& live);
  void drop_if_done(LiveUnit& live);
  void drop_cancelled();

  ProjectState& state_;
  Scheduler& scheduler_;
  Validation& validation_;
  bool is_validating_ = true;
};

}  // namespace quorate
