#include "server/unit_maker.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "server/work_generator.h"
#include "workunits/safetensors.h"
#include "workunits/sealed.h"

namespace quorate {
namespace {

TrainingTask make_task(const TrainingRun& training, const NextUnit& next,
                       const Hash& snapshot) {
  const Run& run = training.run;
  TrainingTask task;
  task.run = run.id;
  task.unit_index = training.cursor.next_unit;
  task.arithmetic = kArithmeticVersion;
  task.model = run.model;
  task.base_version = training.model.version();
  task.snapshot = snapshot;
  task.shard = next.shard;
  task.range = next.range;
  task.order_seed = run.seed;
  task.unit_seed = unit_seed(run.id, task.unit_index);
  task.optimizer = run.optimizer;
  task.optimizer.learning_rate = next.learning_rate;
  task.inverse_batch = inverse_batch(run.model, run.batch);
  task.digest_every = digest_interval(next.range.steps);
  task.codec = "fp32";
  return task;
}

// Errors are counted against this many tries, replicas against the double.
constexpr std::uint32_t kMaxErrorResults = 12;

Workunit make_workunit(const TrainingRun& training, const TrainingTask& task,
                       const Hash& object, Millis now) {
  Workunit unit;
  unit.run = training.run.key;
  unit.unit_index = task.unit_index;
  unit.object = object;
  unit.snapshot = task.snapshot;
  unit.shard = task.shard;
  unit.base_version = task.base_version;
  unit.round = training.cursor.round;
  unit.epoch = task.range.epoch;
  unit.samples = task.range.samples();
  unit.operations =
      training_operations(task.model) * static_cast<double>(unit.samples);
  unit.min_quorum = training.run.quorum;
  unit.target_results = training.run.quorum;
  unit.max_error_results = kMaxErrorResults;
  unit.max_total_results = 2 * kMaxErrorResults;
  unit.created = now;
  return unit;
}

}  // namespace

LiveUnit* UnitMaker::make(double speed_flops, bool proven) {
  for (auto& [key, training] : state_.runs) {
    if (!may_make(training)) continue;
    if (LiveUnit* live = make_for(training, speed_flops, proven)) return live;
  }
  return nullptr;
}

bool UnitMaker::may_make(TrainingRun& training) {
  // What is made while the model is rebuilt would be cancelled.
  if (training.run.state != RunState::running || training.is_revising) {
    return false;
  }
  std::size_t open =
      state_.feeder.units_in(training.run.key, WorkunitState::open).size();
  if (open >= most_open_units(state_.active_host_count())) return false;
  if (!training.rule->in_rounds()) return true;
  RunCursor& cursor = training.cursor;
  if (cursor.round_units == 0) {
    cursor.round_units =
        units_of_round(training.run, state_.active_host_count());
  }
  return cursor.round_made < cursor.round_units;
}

LiveUnit* UnitMaker::make_for(TrainingRun& training, double speed_flops,
                              bool proven) {
  std::optional<NextUnit> next =
      next_unit(training.run, training.shards, training.cursor, speed_flops);
  if (!next) return nullptr;
  const Hash& snapshot = training.snapshot(state_.objects);
  TrainingTask task = make_task(training, *next, snapshot);
  Bytes sealed = seal(encode(task), SealKind::workunit, state_.keys.id,
                      state_.keys.project);
  Workunit unit =
      make_workunit(training, task, sha256(sealed), state_.clock.unix_ms());
  if (proven) unit.min_quorum = unit.target_results = 1;
  training.cursor = next->after;
  state_.store.update_cursor(training.run.key, training.cursor);
  LiveUnit& live = state_.feeder.add_unit(std::move(unit), std::move(task),
                                          std::move(sealed));
  state_.feeder.add_results(live, live.unit.target_results);
  return &live;
}

}  // namespace quorate
