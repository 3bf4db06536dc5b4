#include "server/orders/runs/create_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/making/work_generator.h"
#include "server/orders/runs/presets.h"
#include "server/orders/runs/run_arguments.h"
#include "server/orders/runs/run_sharing.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

// The network that is wished for, for what the data set has. The one place
// that decides whether the two go together.
ModelSpec model_for(const DatasetManifest& dataset,
                    const RunArguments& arguments) {
  if (dataset.is_text()) {
    return parse_text_model(arguments.text("model", "gpt"), dataset.classes);
  }
  return parse_model(arguments.text("model", "mlp"), dataset.shape,
                     dataset.classes);
}

// Of AdamW, a gpt's falls as its width grows; 0.004 was best at a width of 32
// (docs/study.md).
float usual_learning_rate(OptimizerKind kind, const ModelSpec& model) {
  if (kind == OptimizerKind::sgd) return 0.05F;
  if (model.family != "gpt") return 0.001F;
  return std::min(0.004F, 0.128F / static_cast<float>(model.widths.front()));
}

// What people take for such networks: SGD for images, AdamW for text.
OptimizerOptions optimizer_from(const RunArguments& arguments, bool is_text,
                                const ModelSpec& model,
                                const UpdateRule& rule) {
  OptimizerOptions options;
  options.kind =
      optimizer_of(arguments.text("optimizer", is_text ? "adamw" : "sgd"));
  bool is_sgd = options.kind == OptimizerKind::sgd;
  options.learning_rate = arguments.number(
      "lr", usual_learning_rate(options.kind, model), 1e-9, 1e6);
  options.weight_decay =
      arguments.number("weight_decay", is_sgd ? 0.0F : 0.01F, 0, 1);
  options.clip_norm =
      arguments.number("clip_norm", is_text ? 1.0F : 0.0F, 0, 1e6);
  for (const char* name : {"momentum", "beta1", "beta2", "epsilon"}) {
    if (arguments.has(name) && is_sgd != (name[0] == 'm')) {
      arguments.refuse(
          fmt::format("{} is a setting of {}, but this run has {}: leave it "
                      "out, or choose another optimiser with --optimizer",
                      RunArguments::flag_of(name), is_sgd ? "adamw" : "sgd",
                      name_of(options.kind)));
    }
  }
  if (rule.is_without_momentum() &&
      (!is_sgd || arguments.number("momentum", 0.0, 0, 1) != 0)) {
    arguments.refuse(
        fmt::format("--rule {} is for SGD without momentum: leave --momentum "
                    "out and choose --optimizer sgd, or choose another rule",
                    rule.name()));
  }
  if (is_sgd) {
    const float usual = rule.is_without_momentum() ? 0.0F : 0.9F;
    options.momentum = arguments.number("momentum", usual, 0, 0.9999);
    return options;
  }
  options.beta1 = arguments.number("beta1", 0.9F, 0, 0.9999);
  options.beta2 = arguments.number("beta2", 0.99F, 0, 0.99999);
  options.epsilon = arguments.number("epsilon", 1e-8F, 1e-30, 1);
  return options;
}

// The samples of a step, and of each pass through the model.
void set_batch(const RunArguments& arguments, bool is_text, Run& run) {
  constexpr std::uint32_t kTextBatch = 16;  // of many tokens each
  run.batch =
      arguments.number("batch", is_text ? kTextBatch : run.batch, 1, 65536);
  run.micro_batch = arguments.number("micro_batch", run.batch, 1, run.batch);
  if (run.micro_batch == run.batch) run.micro_batch = 0;
  SampleRange step{.batch = run.batch, .micro_batch = run.micro_batch};
  std::string fault = fault_of_batch(layers_of(run.model), step.last_pass());
  if (!fault.empty()) {
    arguments.refuse(fmt::format("--batch {}, --micro-batch {}: {}", run.batch,
                                 step.pass(), fault));
  }
}

Run run_from(const RunArguments& arguments, const DatasetManifest& dataset,
             const UpdateRule& rule) {
  Run run;
  run.name = arguments.text("run", "");
  if (!is_dataset_name(run.name)) {
    arguments.refuse(fmt::format(
        "run \"{}\": use lower-case letters, digits, '-', '_'", run.name));
  }
  run.dataset = dataset.name;
  run.model = model_for(dataset, arguments);
  run.seed = arguments.number<std::uint64_t>("seed", 0, 0, 0x1p53);
  set_batch(arguments, dataset.is_text(), run);
  run.local_steps = arguments.local_steps(rule, run.local_steps);
  run.epochs = arguments.number("epochs", run.epochs, 1, 1e6);
  run.quorum = arguments.number("quorum", run.quorum, 1, 10);
  run.optimizer = optimizer_from(arguments, dataset.is_text(), run.model, rule);
  run.lr_schedule = arguments.text("lr_schedule", run.lr_schedule);
  if (run.lr_schedule != "linear" && run.lr_schedule != "constant") {
    arguments.refuse("--lr-schedule: expected linear or constant, found " +
                     run.lr_schedule);
  }
  run.codec = arguments.codec(kUsualCodec);
  run.rule = rule.name();
  run.rule_settings = arguments.rule_settings(run.rule, kUsualSnapshots);
  arguments.set_rounds(run);
  arguments.set_assimilators(run, rule);
  if (steps_per_epoch(samples_for(run.model, dataset), run.batch) == 0) {
    arguments.refuse(
        fmt::format("--batch {}: no shard of data set {} has so many samples",
                    run.batch, dataset.name));
  }
  return run;
}

json settings_of(const Run& run) {
  auto hex = [](float value) {
    return fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value));
  };
  json settings = {{"batch", run.batch},
                   {"micro_batch", run.micro_batch},
                   {"local_steps", run.local_steps},
                   {"epochs", run.epochs},
                   {"quorum", run.quorum},
                   {"learning_rate", hex(run.optimizer.learning_rate)},
                   {"optimizer", name_of(run.optimizer.kind)},
                   {"momentum", hex(run.optimizer.momentum)},
                   {"weight_decay", hex(run.optimizer.weight_decay)},
                   {"beta1", hex(run.optimizer.beta1)},
                   {"beta2", hex(run.optimizer.beta2)},
                   {"epsilon", hex(run.optimizer.epsilon)},
                   {"clip_norm", hex(run.optimizer.clip_norm)},
                   {"lr_schedule", run.lr_schedule},
                   {"codec", name_of(run.codec)},
                   {"rule_settings", run.rule_settings},
                   {"round_units", run.round_units},
                   {"round_share", run.round_share}};
  if (run.epoch_barrier) settings["epoch_barrier"] = true;
  if (run.assimilators != 1) settings["assimilators"] = run.assimilators;
  if (run.consistency != Consistency::strong) {
    settings["consistency"] = name_of(run.consistency);
  }
  return settings;
}

RunCreated created_entry(const Run& run, const DatasetManifest& dataset,
                         const Hash& initial) {
  RunCreated created;
  created.run = run.id;
  created.name = run.name;
  created.model = run.model;
  created.dataset = dataset.name;
  for (const ShardEntry& shard : dataset.train) {
    created.shards.push_back(shard.hash);
  }
  created.seed = run.seed;
  created.rule = run.rule;
  created.settings = settings_of(run).dump();
  created.initial = initial;
  return created;
}

}  // namespace

TrainingRun& create_run(ProjectState& state, Daemons& daemons,
                        const json& wishes, const std::optional<RunId>& id) {
  const RunArguments arguments("train create", with_preset(wishes));
  DatasetManifest dataset =
      load_manifest(state.folder, arguments.text("dataset", ""));
  const std::string name = arguments.text("rule", kUsualRule);
  std::unique_ptr<UpdateRule> rule =
      make_update_rule(name, arguments.rule_settings(name, kUsualSnapshots));
  Run run = run_from(arguments, dataset, *rule);
  set_sharing(arguments, state, run);
  run.id = id ? *id : secret_random<RunId>();
  if (state.run_by_name(run.name) != nullptr) {
    arguments.refuse(
        fmt::format("run {} exists already: choose another name", run.name));
  }
  std::vector<float> initial = initial_parameters(run.model, run.seed);
  Hash snapshot = state.objects.put(write_parameters(run.model, initial));
  LedgerEntry entry;
  entry.body = created_entry(run, dataset, snapshot);
  run.created = state.clock.unix_ms();
  RunCursor cursor;
  run.key = state.store.insert_run(run, cursor);
  TrainingRun& training =
      state.runs
          .emplace(
              run.key,
              TrainingRun(run, cursor, {}, std::move(dataset), std::move(rule),
                          ModelState(std::move(initial), run.model)))
          .first->second;
  daemons.assimilator.begin(training, entry);
  state.record("run_created", run.key, 0,
               fmt::format("run {}: {} on {}, rule {}", run.name,
                           title_of(run.model), run.dataset, run.rule));
  daemons.scheduler.wake();
  return training;
}

}  // namespace quorate
