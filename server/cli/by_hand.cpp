// validate and assimilate: one pass by hand of what the daemons normally do.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"

namespace quorate {
namespace {

using nlohmann::json;

const std::vector<Column> kAssimilateColumns = {
    {"RUN", "run"}, {"FROM", "version_before"}, {"VERSION", "version"}};

void add_validate(CLI::App& app, GlobalOptions& global) {
  auto unit = std::make_shared<std::optional<std::int64_t>>();
  CLI::App* command =
      app.add_subcommand("validate", "Judge the reported results once, now");
  command->add_option("WORKUNIT", *unit, "Only this workunit");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project validate\n");
  command->callback([unit, &global] {
    json arguments = json::object();
    if (*unit) arguments["workunit"] = **unit;
    json reply = AdminClient(global.folder).call("validate", arguments);
    if (global.json) {
      fmt::print("{}\n", reply.dump());
    } else {
      fmt::print("Looked at {} workunits; {} wait for assimilation.\n",
                 reply["looked_at"].dump(),
                 reply["waiting_for_assimilation"].size());
    }
  });
}

void add_assimilate(CLI::App& app, GlobalOptions& global) {
  auto run = std::make_shared<std::optional<std::string>>();
  CLI::App* command = app.add_subcommand(
      "assimilate", "Merge the validated results into the model once, now");
  command->add_option("RUN", *run, "Only this run");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project assimilate first\n");
  command->callback([run, &global] {
    json arguments = json::object();
    if (*run) arguments["run"] = **run;
    json rows = AdminClient(global.folder).call("assimilate", arguments);
    fmt::print("{}", global.json ? rows.dump() + "\n"
                                 : table(rows, kAssimilateColumns));
  });
}

}  // namespace

void add_by_hand(CLI::App& app, GlobalOptions& global) {
  add_validate(app, global);
  add_assimilate(app, global);
}

}  // namespace quorate
