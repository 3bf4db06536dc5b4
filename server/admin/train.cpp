#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/admin/client.h"
#include "server/admin/commands.h"
#include "server/admin/table.h"

namespace quorate {
namespace {

using nlohmann::json;

const std::vector<Column> kRunColumns = {{"RUN", "run"},
                                         {"STATE", "state"},
                                         {"RULE", "rule"},
                                         {"MODEL", "model"},
                                         {"DATASET", "dataset"},
                                         {"VERSION", "version"},
                                         {"DONE", "progress"},
                                         {"ACCURACY", "accuracy"},
                                         {"BEST", "best_accuracy"},
                                         {"REJECTED", "results_rejected"}};

void print_run(const json& run, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", run.dump());
    return;
  }
  fmt::print("{}", table(json::array({run}), kRunColumns));
  if (!run.value("reason", "").empty()) {
    fmt::print("{}\n", run.value("reason", ""));
  }
}

// An option that reaches the server only if it was given.
template <class T>
void forward(CLI::App* command, const std::shared_ptr<json>& arguments,
             const std::string& flag, const char* key,
             const std::string& help) {
  command->add_option_function<T>(
      flag, [arguments, key](const T& value) { (*arguments)[key] = value; },
      help);
}

// A number, or the word that stands for a schedule.
void set_alpha(json& arguments, const std::string& text) {
  json number = json::parse(text, nullptr, false);
  arguments["alpha"] = number.is_number() ? number : json(text);
}

void add_create(CLI::App* train, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command = train->add_subcommand("create", "Begin a training run");
  command
      ->add_option_function<std::string>(
          "RUN",
          [arguments](const std::string& name) { (*arguments)["run"] = name; },
          "Name of the run")
      ->required();
  command
      ->add_option_function<std::string>(
          "--dataset",
          [arguments](const std::string& name) {
            (*arguments)["dataset"] = name;
          },
          "Data set to train on")
      ->required();
  forward<std::string>(command, arguments, "--model", "model",
                       "mlp, mlp:WIDTH,WIDTH (hidden layers), lenet or "
                       "lenet:CHANNELS,CHANNELS,WIDTH,WIDTH [mlp:256]");
  forward<std::string>(command, arguments, "--rule", "rule",
                       "How updates combine: vc-asgd, diloco [vc-asgd]");
  command->add_option_function<std::string>(
      "--alpha",
      [arguments](const std::string& text) { set_alpha(*arguments, text); },
      "vc-asgd: weight of the old model, or var for e/(e+1) [0.7]");
  forward<double>(command, arguments, "--gamma", "gamma",
                  "diloco: outer learning rate [0.7]");
  forward<double>(command, arguments, "--beta", "beta",
                  "diloco: outer momentum [0.9]");
  forward<std::uint32_t>(command, arguments, "--round-units", "round_units",
                         "diloco: units of a round [by active hosts]");
  forward<double>(command, arguments, "--round-share", "round_share",
                  "diloco: share of a round that closes it [0.6]");
  command->add_option_function<std::string>(
      "--local-steps",
      [arguments](const std::string& text) {
        (*arguments)["local_steps"] =
            text == "auto" ? json(0) : json::parse(text, nullptr, false);
      },
      "Minibatches of a unit, or auto [auto]");
  forward<std::uint32_t>(command, arguments, "--batch", "batch",
                         "Samples of a minibatch [64]");
  forward<std::uint32_t>(command, arguments, "--epochs", "epochs",
                         "Passes over the data [20]");
  forward<std::uint32_t>(command, arguments, "--quorum", "quorum",
                         "Results of different users that must agree [2]");
  forward<double>(command, arguments, "--lr", "lr",
                  "Learning rate of the local SGD [0.05]");
  forward<double>(command, arguments, "--momentum", "momentum",
                  "Its momentum [0.9]");
  forward<double>(command, arguments, "--weight-decay", "weight_decay",
                  "Its weight decay [0]");
  forward<std::string>(command, arguments, "--lr-schedule", "lr_schedule",
                       "linear (to zero) or constant [linear]");
  forward<std::uint64_t>(command, arguments, "--seed", "seed",
                         "Of initialisation and order [0]");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n  quorate -C my-project train create first "
      "--dataset glyphs --rule diloco\n"
      "  quorate -C my-project train create second "
      "--dataset glyphs --model lenet\n");
  command->callback([arguments, &global] {
    AdminClient client(global.folder);
    print_run(client.call("train-create", *arguments), global.json);
  });
}

void add_on_run(CLI::App* train, GlobalOptions& global, const std::string& name,
                const std::string& help) {
  auto run = std::make_shared<std::string>();
  CLI::App* command = train->add_subcommand(name, help);
  command->add_option("RUN", *run, "Name of the run")->required();
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project train {} first\n", name));
  command->callback([run, name, &global] {
    AdminClient client(global.folder);
    print_run(client.call("train-" + name, {{"run", *run}}), global.json);
  });
}

}  // namespace

void add_train(CLI::App& app, GlobalOptions& global) {
  CLI::App* train = app.add_subcommand("train", "Training runs");
  train->require_subcommand(1);
  add_create(train, global);
  add_on_run(train, global, "show", "One run");
  add_on_run(train, global, "pause", "Hand out no new work");
  add_on_run(train, global, "resume", "Go on after a pause");
  add_on_run(train, global, "stop", "End a run for good");
  CLI::App* list = train->add_subcommand("list", "All runs");
  list->add_flag("--json", global.json, "Machine-readable output");
  list->footer("Example:\n  quorate -C my-project train list\n");
  list->callback([&global] {
    AdminClient client(global.folder);
    json rows = client.call("train-list", json::object());
    fmt::print("{}",
               global.json ? rows.dump() + "\n" : table(rows, kRunColumns));
  });
}

}  // namespace quorate
