// status, hosts, snapshots, host show; the lists of lists.cpp.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/run_text.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"

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
  say("{}", as_json ? rows.dump() + "\n" : table(rows, columns));
}

struct SnapshotOptions {
  std::optional<std::string> run;
  std::uint64_t limit = 100;
};

void add_snapshots(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<SnapshotOptions>();
  CLI::App* command =
      app.add_subcommand("snapshots", "Published versions, newest first");
  command->add_option("RUN", options->run, "Only those of this run");
  command->add_option("--limit", options->limit, "Show at most this many rows")
      ->capture_default_str();
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project snapshots\n");
  command->callback([options, &global] {
    json arguments = {{"limit", options->limit}};
    if (options->run) arguments["run"] = *options->run;
    print_rows(AdminClient(global.folder).call("snapshots", arguments),
               global.json,
               {{"RUN", "run"},
                {"VERSION", "version"},
                {"SAMPLES", "samples"},
                {"LOSS", "loss"},
                {"ACCURACY", "accuracy"},
                {"TIME", "time"}});
  });
}

void add_status(CLI::App& app, GlobalOptions& global) {
  CLI::App* command =
      app.add_subcommand("status", "Show the project at a glance");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project status\n");
  command->callback([&global] {
    AdminClient client(global.folder);
    json summary = client.call("status", json::object());
    if (global.json) {
      say("{}\n", summary.dump());
      return;
    }
    say("{}: {} runs, {} active hosts, {} results in progress, {} "
        "waiting, {} in the last minute\n\n",
        summary["name"].get<std::string>(), summary["runs"].dump(),
        summary["hosts_active"].dump(), summary["results_in_progress"].dump(),
        summary["results_waiting"].dump(),
        summary["results_per_minute"].dump());
    std::vector<std::string> off = summary["roles_off"];
    if (!off.empty()) {
      say("Off (serve --roles): {}\n\n", fmt::join(off, ", "));
    }
    json runs = client.call("train-list", json::object());
    say("{}{}",
        table(runs, {{"RUN", "run"},
                     {"STATE", "state"},
                     {"VERSION", "version"},
                     {"DONE", "done"},
                     {"HANDED OUT", "progress"},
                     {"ACCURACY", "accuracy"},
                     {"BEST", "best_accuracy"},
                     {"SHARE", "share"},
                     {"OF HOSTS", "hosts_part"}}),
        standstills(runs));
    for (const json& problem : summary["peer_problems"]) {
      say("{}\n", problem.get<std::string>());
    }
  });
}

void print_host(const json& row, const std::string& order) {
  print_rows(json::array({row}), false, kHostColumns);
  if (!row["reason"].get<std::string>().empty()) {
    say("{}: {}\n", row["state"].get<std::string>(),
        row["reason"].get<std::string>());
  }
  if (order == "purge") {
    say("{} updates are being taken out of the model; see `quorate "
        "status`, and for ended runs `quorate replay RUN "
        "--without-host {}`\n",
        row["revoking"].dump(), row["id"].dump());
  }
}

// host show|trust|ban|pardon|purge HOST [--reason TEXT]
void add_host_order(CLI::App& host, GlobalOptions& global,
                    const std::string& order, const std::string& help) {
  struct Options {
    std::string host;
    std::string reason;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = host.add_subcommand(order, help);
  command->add_option("HOST", options->host, "Id, name or key")->required();
  if (order != "show") {
    command->add_option("--reason", options->reason,
                        "Why: recorded with the event, and shown to the "
                        "volunteer if you ban the host");
  }
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project host {} 3\n", order));
  command->callback([options, order, &global] {
    json row = AdminClient(global.folder)
                   .call("host-" + order, {{"host", options->host},
                                           {"reason", options->reason}});
    if (global.json) {
      say("{}\n", row.dump());
    } else {
      print_host(row, order);
    }
  });
}

void add_hosts(CLI::App& app, GlobalOptions& global) {
  CLI::App* hosts =
      app.add_subcommand("hosts", "List the volunteers' machines");
  hosts->add_flag("--json", global.json, "Machine-readable output");
  hosts->footer("Example:\n  quorate -C my-project hosts\n");
  hosts->callback([&global] {
    print_rows(AdminClient(global.folder).call("hosts", json::object()),
               global.json, kHostColumns);
  });

  CLI::App* host =
      app.add_subcommand("host", "Show one machine, or decide about it");
  host->require_subcommand(1);
  add_host_order(*host, global, "show", "Show its record");
  add_host_order(*host, global, "trust",
                 "Treat it as proven from now on; it is still spot-checked");
  add_host_order(*host, global, "ban",
                 "Give it no more work and accept no more reports from it");
  add_host_order(*host, global, "pardon", "Let it start again as a new host");
  add_host_order(
      *host, global, "purge",
      "Ban it and take all its updates out of the models of unfinished runs");
}

}  // namespace

void add_show(CLI::App& app, GlobalOptions& global) {
  add_status(app, global);
  add_hosts(app, global);
  add_lists(app, global);
  add_snapshots(app, global);
}

}  // namespace quorate
