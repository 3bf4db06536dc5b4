#include "server/orders/runs/change_run.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/runs/run_arguments.h"
#include "server/orders/runs/run_sharing.h"

namespace quorate {
namespace {

using nlohmann::json;

void expect_something(const RunArguments& arguments) {
  if (!arguments.has_only({"run"})) return;
  arguments.refuse(
      "say what to change, for example --rule diloco; see `quorate train "
      "change --help`");
}

void expect_changeable(const RunArguments& arguments,
                       const TrainingRun& training) {
  const Run& run = training.run;
  if (!training.is_active()) {
    arguments.refuse(fmt::format("run {} is {}: create another run", run.name,
                                 name_of(run.state)));
  }
  if (training.is_revising) {
    arguments.refuse(
        fmt::format("run {}: its model is being rebuilt without results that "
                    "proved false: try again in a moment",
                    run.name));
  }
}

void expect_optimizer(const RunArguments& arguments, const UpdateRule& rule,
                      const OptimizerOptions& optimizer) {
  if (!rule.is_without_momentum()) return;
  if (optimizer.kind == OptimizerKind::sgd && optimizer.momentum == 0) return;
  arguments.refuse(
      fmt::format("--rule {} is for SGD without momentum, but this run has {} "
                  "with momentum: choose another rule, or create another run",
                  rule.name(), name_of(optimizer.kind)));
}

// Units of one step are for one rule alone.
std::uint32_t usual_steps(const TrainingRun& training) {
  return training.rule->local_steps() != 0 ? 0 : training.run.local_steps;
}

// Neither the model nor units under way have to do with it.
void change_sharing(ProjectState& state, Daemons& daemons,
                    TrainingRun& training, Run changed) {
  training.run = std::move(changed);
  training.end_reason.clear();
  state.store.update_run(training.run);
  state.record(
      "run_changed", training.run.key, 0,
      fmt::format("run {}: {}", training.run.name, sharing_text(training.run)));
  daemons.scheduler.wake();
}

}  // namespace

void change_run(ProjectState& state, Daemons& daemons, TrainingRun& training,
                const json& wishes) {
  const RunArguments arguments("train change", wishes);
  expect_something(arguments);
  expect_changeable(arguments, training);
  Run changed = training.run;
  set_sharing(arguments, state, changed);
  if (is_of_sharing_alone(arguments)) {
    return change_sharing(state, daemons, training, std::move(changed));
  }
  const Codec snapshots = training.rule->snapshots();
  changed.rule = arguments.text("rule", changed.rule);
  changed.rule_settings = arguments.has("rule")
                              ? arguments.rule_settings(changed.rule, snapshots)
                              : arguments.changed_settings(changed, snapshots);
  auto rule = make_update_rule(changed.rule, changed.rule_settings);
  expect_optimizer(arguments, *rule, changed.optimizer);
  changed.local_steps = arguments.local_steps(*rule, usual_steps(training));
  arguments.set_rounds(changed);
  arguments.set_assimilators(changed, *rule);
  changed.codec = arguments.codec(changed.codec);
  changed.optimizer.learning_rate =
      arguments.number("lr", changed.optimizer.learning_rate, 1e-9, 1e6);
  training.end_reason.clear();
  daemons.assimilator.change(training, std::move(changed), std::move(rule));
  state.record(
      "run_changed", training.run.key, 0,
      fmt::format("run {}: rule {} {} from version {} on", training.run.name,
                  training.run.rule, training.run.rule_settings,
                  training.model.version()));
  daemons.scheduler.wake();
}

}  // namespace quorate
