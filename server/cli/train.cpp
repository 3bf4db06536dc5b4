#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/forward.h"
#include "server/cli/run_text.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"
#include "server/orders/runs/presets.h"
#include "server/orders/runs/run_arguments.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/models/model_spec.h"
#include "workunits/workunit.h"

namespace quorate {
namespace {

using nlohmann::json;

const std::vector<Column> kRunColumns = {{"RUN", "run"},
                                         {"STATE", "state"},
                                         {"RULE", "rule"},
                                         {"MODEL", "model"},
                                         {"DATASET", "dataset"},
                                         {"VERSION", "version"},
                                         {"DONE", "done"},
                                         {"ACCURACY", "accuracy"},
                                         {"BEST", "best_accuracy"},
                                         {"SHARE", "share"},
                                         {"OF HOSTS", "hosts_part"},
                                         {"REJECTED", "results_rejected"}};

void print_run(const json& run, bool as_json) {
  if (as_json) {
    say("{}\n", run.dump());
    return;
  }
  say("{}", table(json::array({run}), kRunColumns));
  say("{}{}", run_details(run), standstills(json::array({run})));
}

// A file with a list of layers goes to the server by its content.
void add_model(CLI::App* command, const std::shared_ptr<json>& arguments) {
  command->add_option_function<std::string>(
      "--model",
      [arguments](const std::string& text) {
        if (!text.ends_with(".json")) {
          (*arguments)["model"] = text;
          return;
        }
        Bytes bytes = read_file(text, kMaxModelBytes);
        (*arguments)["model"] = "layers " + std::string(as_text(bytes));
      },
      "For images: mlp, mlp:WIDTH,WIDTH (hidden layers), lenet, resnet-20, "
      "resnet-18, resnet:3x16,3x32 (blocks x channels), resnet-20:norm=batch "
      "(batch norm instead of group norm); for text: gpt, "
      "gpt:layers=6,width=384,heads=6,context=256; a file NAME.json with a "
      "list of layers [mlp:256; for text: gpt]");
}

void add_optimizer(CLI::App* command, const std::shared_ptr<json>& arguments) {
  forward(command, arguments, "--optimizer", "optimizer",
          "Local optimiser: sgd, adamw [sgd; for text: adamw]");
  forward_number(
      command, arguments, "--lr", "lr",
      "Its learning rate [sgd 0.05; adamw 0.001, of a gpt 0.128 / width, "
      "at most 0.004]");
  forward_number(command, arguments, "--momentum", "momentum",
                 "sgd: momentum [0.9]");
  forward_number(command, arguments, "--weight-decay", "weight_decay",
                 "Its weight decay [sgd 0, adamw 0.01]");
  forward_number(command, arguments, "--beta1", "beta1",
                 "adamw: decay of the mean gradient [0.9]");
  forward_number(command, arguments, "--beta2", "beta2",
                 "adamw: decay of the mean square [0.99]");
  forward_number(command, arguments, "--epsilon", "epsilon",
                 "adamw: added to the root of the mean square [1e-8]");
  forward_number(command, arguments, "--clip-norm", "clip_norm",
                 "Largest norm of a gradient; 0: no limit [0; for text: 1]");
}

// What a new run has without a flag, as help texts say it; and of a run that
// there is, which keeps what it has.
using Usual = std::function<std::string(const std::string&)>;
std::string of_new_run(const std::string& value) {
  return " [" + value + "]";
}
std::string unsaid(const std::string&) {
  return "";
}

// The update rule and what belongs to it. usual: how what a new run has without
// the flag is added to its help.
void add_rule(CLI::App* command, const std::shared_ptr<json>& arguments,
              const Usual& usual) {
  forward(command, arguments, "--rule", "rule",
          fmt::format("How updates combine: {}{}",
                      fmt::join(update_rule_names(), ", "), usual(kUsualRule)));
  forward_settings(
      command, arguments, "--set", "rule_settings",
      "A setting of the rule; may be repeated. Each rule has its own: see "
      "docs/update-rules.md");
  forward_number(command, arguments, "--alpha", "alpha",
                 "The same as --set alpha=NUMBER. vc-asgd: weight of the old "
                 "model, or var for e/(e+1) [0.7]");
  forward_number(command, arguments, "--gamma", "gamma",
                 "The same as --set gamma=NUMBER. diloco: outer learning rate "
                 "[0.7]");
  forward_number(command, arguments, "--beta", "beta",
                 "The same as --set beta=NUMBER. diloco: outer momentum [0.9]");
  forward(command, arguments, "--snapshots", "snapshots",
          fmt::format("The same as --set snapshots=CODEC. Rules in rounds: "
                      "codec of the versions that hosts fetch: {}{}",
                      fmt::join(codec_names(), ", "),
                      usual(std::string(name_of(kUsualSnapshots)))));
  forward_number(command, arguments, "--round-units", "round_units",
                 "Rules in rounds: units in a round; 0: as many as there are "
                 "hosts at work" +
                     usual("0"));
  forward_number(command, arguments, "--round-share", "round_share",
                 "Rules in rounds: share of its units that must be validated "
                 "to close a round" +
                     usual("0.6"));
}

// Of rules that take results one by one.
void add_assimilators(CLI::App* command, const std::shared_ptr<json>& arguments,
                      const Usual& usual) {
  forward_number(command, arguments, "--assimilators", "assimilators",
                 "How many work on its results at the same time, 1 to 16; of "
                 "rules that take them one by one" +
                     usual("1"));
  forward(command, arguments, "--consistency", "consistency",
          "How they share the model: strong (reading, step and writing are one "
          "transaction) or eventual (who writes last wins; updates can be "
          "lost)" +
              usual("strong"));
}

void add_run_name(CLI::App* command, const std::shared_ptr<json>& arguments) {
  command
      ->add_option_function<std::string>(
          "RUN",
          [arguments](const std::string& name) { (*arguments)["run"] = name; },
          "Name of the run")
      ->required();
}

// What a unit is, whatever the run.
void add_units(CLI::App* command, const std::shared_ptr<json>& arguments,
               const Usual& usual) {
  forward_number(command, arguments, "--local-steps", "local_steps",
                 "Minibatches in a unit, or auto: from the number of hosts and "
                 "their speed" +
                     usual("auto"));
  forward(command, arguments, "--codec", "codec",
          fmt::format("Codec of the updates that hosts send: {}{}",
                      fmt::join(codec_names(), ", "),
                      usual(std::string(name_of(kUsualCodec)))));
}

// How it stands beside other runs, and when it ends.
void add_sharing(CLI::App* command, const std::shared_ptr<json>& arguments,
                 const Usual& usual) {
  forward_number(command, arguments, "--share", "share",
                 "Of hosts' time, beside the shares of other runs; 0: only "
                 "what no other run has work for" +
                     usual("1"));
  forward_settings(command, arguments, "--until", "until",
                   "The run ends when it has come to this; may be repeated: "
                   "accuracy=0.9 (of an evaluated version), time=6h (at "
                   "work), cost=20 (of hosts' time, by price_cpu and price_gpu "
                   "in quorate.toml); or none instead of a value");
  command->add_flag_function(
      "--epoch-barrier,!--no-epoch-barrier",
      [arguments](std::int64_t count) {
        (*arguments)["epoch_barrier"] = count > 0;
      },
      "Make nothing of an epoch before all units of the last one are closed");
}

void add_create(CLI::App* train, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command = train->add_subcommand("create", "Start a training run");
  add_run_name(command, arguments);
  command
      ->add_option_function<std::string>(
          "--dataset",
          [arguments](const std::string& name) {
            (*arguments)["dataset"] = name;
          },
          "Data set to train on")
      ->required();
  add_model(command, arguments);
  forward(command, arguments, "--preset", "preset",
          fmt::format("Settings that belong together; other flags change them: "
                      "{}: docs/update-rules.md",
                      fmt::join(preset_names(), ", ")));
  add_rule(command, arguments, of_new_run);
  add_assimilators(command, arguments, of_new_run);
  add_units(command, arguments, of_new_run);
  add_sharing(command, arguments, of_new_run);
  forward_number(command, arguments, "--batch", "batch",
                 "Samples in a minibatch [64; for text: 16]");
  forward_number(command, arguments, "--micro-batch", "micro_batch",
                 "Samples that pass through the network at a time; their "
                 "gradients are added: less memory, different bits [all]");
  forward_number(command, arguments, "--epochs", "epochs",
                 "Passes over the data [20]");
  forward_number(command, arguments, "--quorum", "quorum",
                 "How many results, of different users, must agree [2]");
  add_optimizer(command, arguments);
  forward(command, arguments, "--lr-schedule", "lr_schedule",
          "linear (to zero) or constant [linear]");
  forward_number(
      command, arguments, "--seed", "seed",
      "Seed of the initial parameters and of the order of samples [0]");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n  quorate -C my-project train create first "
      "--dataset glyphs --rule diloco\n"
      "  quorate -C my-project train create second "
      "--dataset glyphs --model lenet\n"
      "  quorate -C my-project train create third "
      "--dataset shakespeare --model gpt:layers=6,width=384,heads=6\n");
  command->callback([arguments, &global] {
    AdminClient client(global.folder);
    print_run(client.call("train-create", *arguments), global.json);
  });
}

void add_why(CLI::App* command, const std::shared_ptr<json>& arguments) {
  forward(command, arguments, "--why", "why", "Why: recorded in the order log");
}

void add_change(CLI::App* train, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command = train->add_subcommand(
      "change", "Change a run's rule or settings from its next unit on");
  add_run_name(command, arguments);
  add_rule(command, arguments, unsaid);
  add_assimilators(command, arguments, unsaid);
  add_units(command, arguments, unsaid);
  add_sharing(command, arguments, unsaid);
  forward_number(command, arguments, "--lr", "lr",
                 "The local optimiser's learning rate");
  add_why(command, arguments);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate -C my-project train change first --rule diloco "
      "--lr 0.02\n");
  command->callback([arguments, &global] {
    AdminClient client(global.folder);
    print_run(client.call("train-change", *arguments), global.json);
  });
}

void add_on_run(CLI::App* train, GlobalOptions& global, const std::string& name,
                const std::string& help) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command = train->add_subcommand(name, help);
  add_run_name(command, arguments);
  if (name != "show") add_why(command, arguments);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project train {} first\n", name));
  command->callback([arguments, name, &global] {
    AdminClient client(global.folder);
    print_run(client.call("train-" + name, *arguments), global.json);
  });
}

}  // namespace

void add_train(CLI::App& app, GlobalOptions& global) {
  CLI::App* train = app.add_subcommand("train", "Training runs");
  train->require_subcommand(1);
  add_create(train, global);
  add_change(train, global);
  add_on_run(train, global, "show", "Show one run");
  add_on_run(train, global, "pause", "Hand out no new work");
  add_on_run(train, global, "resume", "Continue after a pause");
  add_on_run(train, global, "stop", "End a run for good");
  CLI::App* list = train->add_subcommand("list", "List all runs");
  list->add_flag("--json", global.json, "Machine-readable output");
  list->footer("Example:\n  quorate -C my-project train list\n");
  list->callback([&global] {
    AdminClient client(global.folder);
    json rows = client.call("train-list", json::object());
    say("{}", global.json ? rows.dump() + "\n"
                          : table(rows, kRunColumns) + standstills(rows));
  });
}

}  // namespace quorate
