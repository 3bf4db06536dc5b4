// validate and assimilate: one pass by hand of what the daemons normally do, or
// a look at what it would do.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/forward.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"
#include "server/cli/unit_text.h"

namespace quorate {
namespace {

using nlohmann::json;

void add_dry_run(CLI::App& command, const std::shared_ptr<json>& arguments,
                 const std::string& help) {
  command.add_flag_callback(
      "--dry-run", [arguments] { (*arguments)["dry_run"] = true; }, help);
}

const std::vector<Column> kVerdictColumns = {
    {"WORKUNIT", "workunit"},   {"RUN", "run"},
    {"STATE", "state"},         {"NEXT", "step"},
    {"CANONICAL", "canonical"}, {"WHY", "says"}};
const std::vector<Column> kAssimilateColumns = {{"RUN", "run"},
                                                {"FROM", "version_before"},
                                                {"VERSION", "version"},
                                                {"WHY NOT", "why_none"}};
const std::vector<Column> kPlanColumns = {
    {"WORKUNIT", "workunit"},
    {"RESULT", "result"},
    {"HOST", "host_shown"},
    {"VERSION", "version_after"},
    {"OLD", "staleness"},
    {"BASIS", "basis"},
    {"UPDATE", "update_norm"},
    {"STEP", "step_norm"},
    {"COEFFICIENTS", "coefficients_shown"}};

std::string validated_text(const json& reply, bool is_dry) {
  if (is_dry) {
    return table(reply["units"], kVerdictColumns) +
           "Nothing was changed (--dry-run).\n";
  }
  return fmt::format("Looked at {} workunits; {} wait for assimilation.\n",
                     reply["looked_at"].dump(),
                     reply["waiting_for_assimilation"].size());
}

void add_validate(CLI::App& app, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command =
      app.add_subcommand("validate", "Judge the reported results once, now");
  command->add_option_function<std::int64_t>(
      "WORKUNIT",
      [arguments](std::int64_t id) { (*arguments)["workunit"] = id; },
      "Only this workunit");
  add_dry_run(*command, arguments,
              "Only say what would be judged, and why; change nothing");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n  quorate -C my-project validate --dry-run\n"
      "  quorate -C my-project validate 17\n");
  command->callback([arguments, &global] {
    const json reply = AdminClient(global.folder).call("validate", *arguments);
    say("{}", global.json
                  ? reply.dump() + "\n"
                  : validated_text(reply, arguments->contains("dry_run")));
  });
}

std::string plan_text(json rows) {
  std::string text;
  for (json& run : rows) {
    text +=
        fmt::format("Run {}: version {} to {}\n", run["run"].get<std::string>(),
                    run["version_before"].dump(), run["version"].dump());
    for (json& unit : run["units"]) {
      unit["host_shown"] = fmt::format("{} {}", unit["host"].dump(),
                                       cell("host_name", unit["host_name"]));
      unit["coefficients_shown"] =
          fmt::format("{}: {}", unit["rule"].get<std::string>(),
                      coefficients_text(unit["coefficients"]));
    }
    const auto why = run["why_none"].get<std::string>();
    text += why.empty() ? table(run["units"], kPlanColumns)
                        : fmt::format("Nothing: {}.\n", why);
  }
  return text + "Nothing was changed (--dry-run).\n";
}

void add_assimilate(CLI::App& app, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* command = app.add_subcommand(
      "assimilate", "Merge the validated results into the model once, now");
  CLI::Option* run = forward(command, arguments, "RUN", "run", "Only this run");
  CLI::Option* version = command->add_option_function<std::uint64_t>(
      "--up-to",
      [arguments](std::uint64_t to) { (*arguments)["up_to_version"] = to; },
      "Stop once the model has reached this VERSION, as `train show` counts "
      "them");
  version->type_name("VERSION");
  command
      ->add_option_function<std::int64_t>(
          "--up-to-unit",
          [arguments](std::int64_t id) { (*arguments)["up_to_unit"] = id; },
          "Stop once this validated workunit (an id) is taken; its round, if "
          "it has one, is taken whole")
      ->type_name("WORKUNIT")
      ->excludes(version)
      ->excludes(run);
  add_dry_run(*command, arguments,
              "Only say what would be taken, in which order, with which "
              "coefficients, and how large the updates and steps are "
              "(Euclidean norms); change nothing");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n  quorate -C my-project assimilate first --dry-run\n"
      "  quorate -C my-project assimilate first --up-to 120\n");
  command->callback([arguments, &global] {
    const json rows = AdminClient(global.folder).call("assimilate", *arguments);
    if (global.json) {
      say("{}\n", rows.dump());
    } else if (arguments->contains("dry_run")) {
      say("{}", plan_text(rows));
    } else {
      say("{}", table(rows, kAssimilateColumns));
    }
  });
}

}  // namespace

void add_by_hand(CLI::App& app, GlobalOptions& global) {
  add_validate(app, global);
  add_assimilate(app, global);
}

}  // namespace quorate
