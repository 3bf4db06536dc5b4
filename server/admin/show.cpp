// status, hosts, workunits, results, snapshots, host show.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "server/admin/client.h"
#include "server/admin/commands.h"
#include "server/admin/run_text.h"
#include "server/admin/table.h"

namespace quorate {
namespace {

using nlohmann::json;

const std::vector<Column> kHostColumns = {
    {"ID", "id"},         {"NAME", "name"},     {"USER", "user"},
    {"DOOR", "door"},     {"DEVICE", "device"}, {"TRUST", "trust"},
    {"STATE", "state"},   {"VALID", "valid"},   {"INVALID", "invalid"},
    {"ERRORS", "errors"}, {"CREDIT", "credit"}, {"SEEN", "last_seen"}};

void print_rows(const json& rows, bool as_json,
                const std::vector<Column>& columns) {
  fmt::print("{}", as_json ? rows.dump() + "\n" : table(rows, columns));
}

// "7 attic" where a row has a host: names alone are often the same.
void name_hosts(json& rows) {
  for (json& row : rows) {
    if (row.value("host", 0) == 0) continue;
    row["host_shown"] = fmt::format("{} {}", row["host"].dump(),
                                    cell("host_name", row["host_name"]));
  }
}

struct RowOptions {
  std::optional<std::string> run;
  std::uint64_t limit = 100;
  bool rejected = false;
};

void add_rows(CLI::App& app, GlobalOptions& global, const std::string& name,
              const std::string& help, const std::vector<Column>& columns) {
  auto options = std::make_shared<RowOptions>();
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("RUN", options->run, "Only of this run");
  command->add_option("--limit", options->limit, "At most so many rows")
      ->capture_default_str();
  if (name == "results") {
    command->add_flag("--rejected", options->rejected,
                      "Only rejected ones, with the reasons");
  }
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(fmt::format("Example:\n  quorate -C my-project {}\n", name));
  command->callback([options, name, columns, &global] {
    json arguments = {{"limit", options->limit},
                      {"rejected", options->rejected}};
    if (options->run) arguments["run"] = *options->run;
    json rows = AdminClient(global.folder).call(name, arguments);
    if (!global.json) name_hosts(rows);
    print_rows(rows, global.json, columns);
  });
}

void add_status(CLI::App& app, GlobalOptions& global) {
  CLI::App* command = app.add_subcommand("status", "The project at a glance");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project status\n");
  command->callback([&global] {
    AdminClient client(global.folder);
    json summary = client.call("status", json::object());
    if (global.json) {
      fmt::print("{}\n", summary.dump());
      return;
    }
    fmt::print(
        "{}: {} runs, {} active hosts, {} results in progress, {} "
        "waiting, {} in the last minute\n\n",
        summary["name"].get<std::string>(), summary["runs"].dump(),
        summary["hosts_active"].dump(), summary["results_in_progress"].dump(),
        summary["results_waiting"].dump(),
        summary["results_per_minute"].dump());
    std::vector<std::string> off = summary["roles_off"];
    if (!off.empty()) {
      fmt::print("Off (serve --roles): {}\n\n", fmt::join(off, ", "));
    }
    json runs = client.call("train-list", json::object());
    fmt::print("{}{}",
               table(runs, {{"RUN", "run"},
                            {"STATE", "state"},
                            {"VERSION", "version"},
                            {"DONE", "done"},
                            {"HANDED OUT", "progress"},
                            {"ACCURACY", "accuracy"},
                            {"BEST", "best_accuracy"}}),
               standstills(runs));
  });
}

void add_hosts(CLI::App& app, GlobalOptions& global) {
  CLI::App* hosts = app.add_subcommand("hosts", "Volunteers' machines");
  hosts->add_flag("--json", global.json, "Machine-readable output");
  hosts->footer("Example:\n  quorate -C my-project hosts\n");
  hosts->callback([&global] {
    print_rows(AdminClient(global.folder).call("hosts", json::object()),
               global.json, kHostColumns);
  });

  auto which = std::make_shared<std::string>();
  CLI::App* host = app.add_subcommand("host", "One machine");
  host->require_subcommand(1);
  CLI::App* show = host->add_subcommand("show", "Its record");
  show->add_option("HOST", *which, "Id or name")->required();
  show->add_flag("--json", global.json, "Machine-readable output");
  show->footer("Example:\n  quorate -C my-project host show 3\n");
  show->callback([which, &global] {
    json row = AdminClient(global.folder).call("host-show", {{"host", *which}});
    if (global.json) {
      fmt::print("{}\n", row.dump());
    } else {
      print_rows(json::array({row}), false, kHostColumns);
    }
  });
}

}  // namespace

void add_show(CLI::App& app, GlobalOptions& global) {
  add_status(app, global);
  add_hosts(app, global);
  add_rows(app, global, "workunits", "Units of work, newest first",
           {{"ID", "id"},
            {"RUN", "run"},
            {"UNIT", "unit_index"},
            {"STATE", "state"},
            {"BASE", "base_version"},
            {"EPOCH", "epoch"},
            {"SAMPLES", "samples"},
            {"CANONICAL", "canonical_result"},
            {"CREATED", "created"}});
  add_rows(app, global, "results", "Results, newest first",
           {{"ID", "id"},
            {"RUN", "run"},
            {"WORKUNIT", "workunit"},
            {"HOST", "host_shown"},
            {"STATE", "server_state"},
            {"OUTCOME", "outcome"},
            {"VALIDATE", "validate_state"},
            {"REASON", "reason"}});
  add_rows(app, global, "snapshots", "Published versions, newest first",
           {{"RUN", "run"},
            {"VERSION", "version"},
            {"SAMPLES", "samples"},
            {"LOSS", "loss"},
            {"ACCURACY", "accuracy"},
            {"TIME", "time"}});
}

}  // namespace quorate
