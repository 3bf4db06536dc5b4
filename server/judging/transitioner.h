// Takes units through their life. Events only say that a unit is due; settle()
// then asks what happens next with it (server/units/decision) and does that,
// until nothing is due. So a unit leaves the memory in settle() alone, and a
// verdict whose consequences reach other units, or the one that is being
// judged, just makes them due. Used by the writer's thread only.
//
// The room server/judging decides which results are believed, with the pure
// parts of validator/ and server/units, and what follows for their hosts. It
// owns nothing: units and hosts are the state's. It may include server/sending
// and all before it.
#pragma once

#include <string>

#include "server/judging/verdicts.h"
#include "server/sending/scheduler.h"
#include "server/units/decision.h"

namespace quorate {

class Transitioner {
 public:
  Transitioner(ProjectState& state, Scheduler& scheduler, Verdicts& verdicts)
      : state_(state), scheduler_(scheduler), verdicts_(verdicts) {}

  // A result's report is stored, or was rejected by screening: the unit may
  // have a quorum or need another replica.
  void on_reported(WorkunitId unit);
  // A host gives a result up.
  void on_failed(HostId host, ResultId id, const std::string& why);
  // As on_failed() of a house worker that ended by itself under the unit: a run
  // of such units pauses.
  void on_house_aborted(ResultId id, const std::string& why);
  // The run's objects were damaged, and are whole again: who failed at its open
  // units may have them again.
  void forgive(const TrainingRun& training);
  // Takes back results of silent hosts, for others, and has others compute what
  // a run waits for too long. Call now and then.
  void tick();

  // Looks at one unit, or at all live ones, as if something had just happened
  // to them.
  void look_at(WorkunitId unit) { state_.due.units.insert(unit); }
  void look_at_all();
  // The model goes on without this unit, which is open or validated.
  void close(WorkunitId unit, Closing why);

  // What the operator orders, where nothing speaks against it
  // (server/units/decision_by_hand). why: for people.
  void reject(ResultId result, const std::string& why);
  // All that the host reported of units that have no verdict.
  void reject_undecided(HostId host, const std::string& why);
  // Has a house worker compute the unit: its claim decides.
  void ask_for_check(WorkunitId unit);
  // Decides the unit for this result's claim, though nobody recomputed it.
  void accept_unverified(ResultId result);
  // Gives up what is out and forgets failures, so that it is sent anew.
  // Returns how many results were given up.
  std::uint32_t reissue(WorkunitId unit, const std::string& why);
  // Has so many results made beyond what the quorum needs.
  void replicate(WorkunitId unit, std::uint32_t more);

  // Does what is due. Call at the end of every job, before its commit.
  void settle();

  // Validation is somebody else's job, or done by hand: on_reported() only
  // stores. See `quorate serve --roles`.
  void set_validating(bool on) { is_validating_ = on; }

 private:
  // Steps until the decision is one that ends (ends_turn).
  void take_turn(LiveUnit& live);
  void take_step(LiveUnit& live, const UnitDecision& decision);
  void begin_check(LiveUnit& live);
  void note_unusual(const LiveUnit& live, ResultId id);
  void look_at_waiting(const LiveUnit& checked);
  void accept(LiveUnit& live, const QuorumDecision& quorum);
  void ask_house(LiveUnit& live, std::uint32_t fresh);
  void replicate(LiveUnit& live, const UnitDecision& decision);
  void fail(LiveUnit& live, const std::string& why);
  void cancel(LiveUnit& live);
  void judge_late_results(LiveUnit& live);
  void drop(LiveUnit& live);
  // Sets the run's damage if an object that the unit needs is not whole.
  void look_for_damage(const LiveUnit& live);
  void give_to_others(HostId host);
  void take_back_expired();
  void look_for_slow(const TrainingRun& training);
  void take_back(Result& result, ResultOutcome outcome,
                 const std::string& reason);
  void take_back_unsent(LiveUnit& live);

  ProjectState& state_;
  Scheduler& scheduler_;
  Verdicts& verdicts_;
  bool is_validating_ = true;
};

}  // namespace quorate
