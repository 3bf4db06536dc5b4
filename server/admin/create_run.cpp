#include "server/admin/create_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/work_generator.h"
#include "workunits/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::usage, "train create: " + what);
}

// "local_steps" is --local-steps on the command line.
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

// A number in [least, most], or `otherwise` if it is not given.
template <class T>
T number(const json& arguments, const char* name, T otherwise, double least,
         double most) {
  if (!arguments.contains(name)) return otherwise;
  const json& value = arguments[name];
  if (!value.is_number() ||
      (std::is_integral_v<T> && !value.is_number_integer()) ||
      !(value.get<double>() >= least) || !(value.get<double>() <= most)) {
    refuse(fmt::format("{}: expected a {}number from {} to {}, found {}",
                       flag_of(name), std::is_integral_v<T> ? "whole " : "",
                       least, most, value.dump()));
  }
  return value.get<T>();
}

bool is_run_name(const std::string& name) {
  return is_dataset_name(name);
}

// The rule's own settings: KEY=VALUE of --set, and flags for the best known.
std::string rule_settings(const json& arguments) {
  json settings = arguments.value("rule_settings", json::object());
  for (const char* name : {"alpha", "beta", "gamma"}) {
    if (arguments.contains(name)) settings[name] = arguments[name];
  }
  return settings.empty() ? "" : settings.dump();
}

// Units of the length that the rule wants.
void set_local_steps(const json& arguments, const UpdateRule& rule, Run& run) {
  if (arguments.value("local_steps", json()) != "auto") {
    run.local_steps = number(arguments, "local_steps", run.local_steps, 0, 1e6);
  }
  const std::uint32_t wanted = rule.local_steps();
  if (wanted == 0) return;
  if (arguments.contains("local_steps") && run.local_steps != wanted) {
    refuse(
        fmt::format("--local-steps {}: rule \"{}\" has units of {} step: "
                    "leave it out, or choose another rule",
                    arguments["local_steps"].dump(), rule.name(), wanted));
  }
  run.local_steps = wanted;
}

// The network that is wished for, for what the data set has. The one place
// that decides whether the two go together.
ModelSpec model_for(const DatasetManifest& dataset, const json& arguments) {
  if (dataset.is_text()) {
    return parse_text_model(arguments.value("model", "gpt"), dataset.classes);
  }
  return parse_model(arguments.value("model", "mlp"), dataset.shape,
                     dataset.classes);
}

// What people take for such networks: SGD for images, AdamW for text.
OptimizerOptions optimizer_from(const json& arguments, bool is_text,
                                const UpdateRule& rule) {
  OptimizerOptions options;
  options.kind =
      optimizer_of(arguments.value("optimizer", is_text ? "adamw" : "sgd"));
  bool is_sgd = options.kind == OptimizerKind::sgd;
  options.learning_rate =
      number(arguments, "lr", is_sgd ? 0.05F : 0.001F, 1e-9, 1e6);
  options.weight_decay =
      number(arguments, "weight_decay", is_sgd ? 0.0F : 0.01F, 0, 1);
  options.clip_norm =
      number(arguments, "clip_norm", is_text ? 1.0F : 0.0F, 0, 1e6);
  for (const char* name : {"momentum", "beta1", "beta2", "epsilon"}) {
    if (arguments.contains(name) && is_sgd != (name[0] == 'm')) {
      refuse(fmt::format(
          "{}: is a setting of {}, this run has {}: leave it "
          "out, or choose with --optimizer",
          flag_of(name), is_sgd ? "adamw" : "sgd", name_of(options.kind)));
    }
  }
  if (rule.is_without_momentum() &&
      (!is_sgd || arguments.value("momentum", json(0)) != 0)) {
    refuse(
        fmt::format("--rule {}: is for SGD without momentum: leave --momentum "
                    "out and choose --optimizer sgd, or another rule",
                    rule.name()));
  }
  if (is_sgd) {
    const float usual = rule.is_without_momentum() ? 0.0F : 0.9F;
    options.momentum = number(arguments, "momentum", usual, 0, 0.9999);
    return options;
  }
  options.beta1 = number(arguments, "beta1", 0.9F, 0, 0.9999);
  options.beta2 = number(arguments, "beta2", 0.99F, 0, 0.99999);
  options.epsilon = number(arguments, "epsilon", 1e-8F, 1e-30, 1);
  return options;
}

// The samples of a step, and of each pass through the model.
void set_batch(const json& arguments, bool is_text, Run& run) {
  constexpr std::uint32_t kTextBatch = 16;  // of many tokens each
  run.batch =
      number(arguments, "batch", is_text ? kTextBatch : run.batch, 1, 65536);
  run.micro_batch = number(arguments, "micro_batch", run.batch, 1, run.batch);
  if (run.micro_batch == run.batch) run.micro_batch = 0;
  SampleRange step{.batch = run.batch, .micro_batch = run.micro_batch};
  std::string fault = fault_of_batch(layers_of(run.model), step.last_pass());
  if (!fault.empty()) {
    refuse(fmt::format("--batch {}, --micro-batch {}: {}", run.batch,
                       step.pass(), fault));
  }
}

Codec codec_from(const json& arguments) {
  const std::string name = arguments.value("codec", "fp32");
  if (const auto codec = codec_called(name)) return *codec;
  refuse(fmt::format("--codec: unknown codec \"{}\": known are {}", name,
                     fmt::join(codec_names(), ", ")));
}

Run run_from(const json& arguments, const DatasetManifest& dataset,
             const UpdateRule& rule) {
  Run run;
  run.name = arguments.value("run", "");
  if (!is_run_name(run.name)) {
    refuse(fmt::format("run \"{}\": use lower-case letters, digits, '-', '_'",
                       run.name));
  }
  run.dataset = dataset.name;
  run.model = model_for(dataset, arguments);
  run.seed = number<std::uint64_t>(arguments, "seed", 0, 0, 0x1p53);
  set_batch(arguments, dataset.is_text(), run);
  set_local_steps(arguments, rule, run);
  run.epochs = number(arguments, "epochs", run.epochs, 1, 1e6);
  run.quorum = number(arguments, "quorum", run.quorum, 1, 10);
  run.optimizer = optimizer_from(arguments, dataset.is_text(), rule);
  run.lr_schedule = arguments.value("lr_schedule", run.lr_schedule);
  if (run.lr_schedule != "linear" && run.lr_schedule != "constant") {
    refuse("--lr-schedule: expected linear or constant, found " +
           run.lr_schedule);
  }
  run.codec = codec_from(arguments);
  run.rule = rule.name();
  run.rule_settings = rule_settings(arguments);
  run.round_units = number(arguments, "round_units", 0U, 0, 100000);
  run.round_share = number(arguments, "round_share", 0.6, 0.01, 1);
  if (steps_per_epoch(samples_for(run.model, dataset), run.batch) == 0) {
    refuse(
        fmt::format("--batch {}: no shard of data set {} has as many "
                    "samples",
                    run.batch, dataset.name));
  }
  return run;
}

json settings_of(const Run& run) {
  auto hex = [](float value) {
    return fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value));
  };
  return {{"batch", run.batch},
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

json number_or_text(const std::string& text) {
  // JSON's numbers keep whether they are whole; people also write .5 and 1.
  json number = json::parse(text, nullptr, false);
  if (number.is_number()) return number;
  double value = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  bool is_number = error == std::errc() && end == last && std::isfinite(value);
  return is_number ? json(value) : json(text);
}

TrainingRun& create_run(ProjectState& state, Daemons& daemons,
                        const json& arguments, const std::optional<RunId>& id) {
  DatasetManifest dataset =
      load_manifest(state.folder, arguments.value("dataset", ""));
  std::unique_ptr<UpdateRule> rule = make_update_rule(
      arguments.value("rule", Run().rule), rule_settings(arguments));
  Run run = run_from(arguments, dataset, *rule);
  run.id = id ? *id : secret_random<RunId>();
  if (state.run_by_name(run.name) != nullptr) {
    refuse(fmt::format("run {}: there is one already: choose another name",
                       run.name));
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
          .emplace(run.key, TrainingRun(run, cursor, {}, std::move(dataset),
                                        std::move(rule),
                                        ModelState(std::move(initial),
                                                   statistic_count(run.model))))
          .first->second;
  daemons.assimilator.begin(training, entry);
  state.record("run_created", run.key, 0,
               fmt::format("run {}: {} on {}, rule {}", run.name,
                           title_of(run.model), run.dataset, run.rule));
  daemons.scheduler.wake();
  return training;
}

}  // namespace quorate
