// Makes validated updates part of the model: one ledger entry each, by the
// run's rule, one by one or in rounds; publishes versions; ends runs. Used by
// the writer's thread only.
//
// The room server/merging is where a run's model and ledger change; entry,
// cursor and unit are in one transaction. It owns a cache of small objects. The
// arithmetic is validator/update_rules, pure and replayable; large models take
// it some seconds, and requests wait meanwhile. It may include server/judging
// and all before it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "server/judging/transitioner.h"
#include "server/merging/ready_units.h"
#include "server/merging/step_helpers.h"
#include "server/merging/step_line.h"
#include "server/objects/recent_objects.h"
#include "server/sending/scheduler.h"
#include "server/state/project_state.h"

namespace quorate {

// A published version that is to be evaluated.
// published: the object with its parameters; samples: in the model then.
struct EvaluationOrder {
  RunKey run = 0;
  std::uint64_t version = 0;
  Hash published;
  std::uint64_t samples = 0;
};

// A unit that a pass would take. Norms are Euclidean, of all parameters.
struct PlannedUnit {
  WorkunitId unit = 0;
  ResultAssimilated entry;  // as the ledger would have it
  double update_norm = 0;
  std::optional<double> step_norm{};  // of the version that it makes, if one
};

class Assimilator {
 public:
  using Evaluate = std::function<void(EvaluationOrder)>;

  // evaluate: called for every published version, after its commit.
  Assimilator(ProjectState& state, Scheduler& scheduler,
              Transitioner& transitioner, Writer& writer, Evaluate evaluate)
      : state_(state),
        scheduler_(scheduler),
        transitioner_(transitioner),
        writer_(writer),
        recent_(state.objects),
        evaluate_(std::move(evaluate)) {}

  // Runs with several assimilators go through these, which outlive it; null:
  // all is done by the writer's thread.
  void set_helpers(StepHelpers* helpers) { helpers_ = helpers; }

  // Takes in whatever of the run is ready; closes its round, ends it when all
  // of its units are closed. Pauses it, saying why, when the training diverged
  // or an object that it needs is damaged.
  // limit: takes no more than that, and no model of a peer.
  void pass(TrainingRun& training, const PassLimit& limit = {});
  void pass_all();
  // What pass() would take, in that order: computed on a copy of the model, so
  // it needs the memory and time of the pass. Changes nothing. Throws corrupt
  // where the pass would pause the run for damage.
  std::vector<PlannedUnit> preview(const TrainingRun& training,
                                   const PassLimit& limit = {});

  // Writes the ledger's first entry of a new run.
  void begin(TrainingRun& training, const LedgerEntry& created);
  // Cancels what is live and ends the ledger. state: finished or stopped; why:
  // for people, if it is not for want of samples, nor by the operator.
  void end(TrainingRun& training, RunState state, const std::string& why = "");
  // Goes on from the model that is left without these results: `entry` names
  // them, their host and the reason. What is under way is cancelled.
  void revoke(TrainingRun& training, Revoked entry, ModelState rebuilt);
  // Goes on with other settings and their rule; units under way that it cannot
  // take are cancelled.
  void change(TrainingRun& training, Run run, std::unique_ptr<UpdateRule> rule);
  // Asks again for the evaluation of the last published version of each run,
  // if it has none.
  void resume_evaluations();

 private:
  std::vector<LiveUnit*> units_in(const TrainingRun& training,
                                  WorkunitState state);
  std::size_t count_in(const TrainingRun& training, WorkunitState state) const;
  std::vector<LiveUnit*> open_units_of_round(const TrainingRun& training);
  // The run goes on, and nothing that it needs is damaged or being rebuilt.
  static bool may_take(const TrainingRun& training);
  // These throw corrupt before they change anything of the unit, or of the
  // round, whose object is damaged; units before it are in the model then.
  void take(TrainingRun& training, const PassLimit& limit);
  void take_one_by_one(TrainingRun& training, const ReadyUnits& ready);
  void take_round(TrainingRun& training, const ReadyUnits& ready);
  void open_next_round(TrainingRun& training);
  void look_after(const TrainingRun& training, const LiveUnit& live);
  // Of the unit, taken into `model`, which is the run's or a copy.
  ResultAssimilated new_entry(const TrainingRun& training,
                              const ModelState& model, LiveUnit& live,
                              bool makes_version) const;
  void assimilate(TrainingRun& training, LiveUnit& live, ParameterValues update,
                  bool makes_version);
  // For hosts that make their replicas' snapshots themselves.
  void note_exchange(TrainingRun& training, const LiveUnit& live,
                     const ResultAssimilated& entry);
  void record(TrainingRun& training, LiveUnit& live, ResultAssimilated entry);
  // With helpers: assimilator_line.cpp.
  bool is_helped(const TrainingRun& training) const;
  void take_in_line(TrainingRun& training);
  bool must_drain(const TrainingRun& training) const;
  bool is_stepping(const TrainingRun& training) const;
  void on_helped(RunKey run, std::uint64_t number, StepSlot::Stage stage);
  void prepare(const TrainingRun& training, const StepSlot& slot);
  void begin_step(TrainingRun& training, StepSlot& slot);
  void write_done(TrainingRun& training, StepLine& line);
  void write(TrainingRun& training, LiveUnit& live, StepWork& work);
  bool is_publish_due(const TrainingRun& training) const;
  ParameterValues read_base(LiveUnit& live);
  ParameterValues read_update(LiveUnit& live);
  void pause_if_diverged(TrainingRun& training);
  void pause_if_aborting(TrainingRun& training);
  bool is_looking_for_culprits(TrainingRun& training);
  void pause_for_damage(TrainingRun& training, const std::string& what);
  void pause(TrainingRun& training, const std::string& why);
  // Peers' models that wait, unless this is not the moment.
  void mix_peers(TrainingRun& training);
  static bool may_mix(const TrainingRun& training);
  // Not if it has gone, or is damaged, since it was fetched.
  void mix(TrainingRun& training, const PeerModel& model);
  void count_time(TrainingRun& training);
  // If what its operator set as its end has come.
  void end_if_reached(TrainingRun& training);
  void finish_if_done(TrainingRun& training);
  void publish_if_due(TrainingRun& training);
  void publish(TrainingRun& training);
  void append(TrainingRun& training, LedgerBody body);
  void close_units(const TrainingRun& training, Closing why);
  bool has_live_units(const TrainingRun& training);

  ProjectState& state_;
  Scheduler& scheduler_;
  Transitioner& transitioner_;
  Writer& writer_;
  RecentObjects recent_;
  Evaluate evaluate_;
  StepHelpers* helpers_ = nullptr;
  std::map<RunKey, StepLine> lines_;
};

}  // namespace quorate
