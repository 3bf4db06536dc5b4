// backup and restore.
#include "server/backup/backup.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/progress_line.h"
#include "server/cli/support/table.h"
#include "server/settings/settings.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr const char* kOneServer =
    "Serve this project from one folder only: two servers with one key would "
    "sign two histories of it, and volunteers could not tell which is right.";

json to_json(const BackupReport& report) {
  return {{"files", report.files},
          {"bytes", report.bytes},
          {"damaged", report.damaged}};
}

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

void make_backup(const GlobalOptions& global, const std::string& to,
                 const BackupOptions& options) {
  ProjectFolder project{global.folder};
  BackupReport report;
  {
    ProgressLine line;
    report = back_up(project, to, options,
                     [&](const std::string& what, std::uint64_t done,
                         std::uint64_t all) { line.show(what, done, all); });
  }
  if (global.json) {
    json row = to_json(report);
    row["folder"] = to;
    say("{}\n", row.dump());
  } else {
    say("Backed up {} to {}: {} files, {:.1f} MB.\n", project.root.string(), to,
        report.files, megabytes(report.bytes));
  }
  std::FILE* remarks = global.json ? stderr : stdout;
  say(remarks,
      "It holds the project's keys: keep it as safe as the keys themselves.\n");
  ServerSettings settings = load_settings(project.settings());
  if (!settings.tls_certificate.empty()) {
    say(remarks,
        "Not in it: {} and its key, which lie outside the project's folder.\n",
        settings.tls_certificate);
  }
  if (report.damaged.empty()) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("back up {}: {} objects are damaged on disk and are "
                          "not in the backup; the first is {}: check the disk; "
                          "`verify-ledger` says which run needs them",
                          project.root.string(), report.damaged.size(),
                          report.damaged.front()));
}

void restore_backup(const GlobalOptions& global, const std::string& from,
                    const std::string& to) {
  ProjectFolder project{to};
  BackupReport report;
  {
    ProgressLine line;
    report = restore(from, project,
                     [&](const std::string& what, std::uint64_t done,
                         std::uint64_t all) { line.show(what, done, all); });
  }
  // Opens it as a server would: every run is loaded from its ledger.
  json runs = AdminClient(to).call("train-list", json::object());
  if (global.json) {
    json row = to_json(report);
    row.update({{"folder", to}, {"runs", runs}, {"warning", kOneServer}});
    say("{}\n", row.dump());
    return;
  }
  say("Restored {} from {}: {} files, {:.1f} MB, every hash as "
      "recorded.\n{}\n{}\n"
      "Next:\n  quorate -C {} serve\n",
      to, from, report.files, megabytes(report.bytes),
      table(runs, {{"RUN", "run"}, {"STATE", "state"}, {"VERSION", "version"}}),
      kOneServer, to);
}

}  // namespace

void add_backup(CLI::App& app, GlobalOptions& global) {
  struct Options {
    std::string from;
    std::string to;
    BackupOptions backup;
  };
  auto options = std::make_shared<Options>();
  CLI::App* backup = app.add_subcommand(
      "backup", "Copy the project to a folder; works while the server runs");
  backup->add_option("FOLDER", options->to, "A new or empty folder")
      ->required();
  backup->add_flag("--link", options->backup.link,
                   "Hard-link the objects instead of copying them: takes no "
                   "space, but does not help when the disk breaks");
  backup->add_flag("--json", global.json, "Machine-readable output");
  backup->footer(
      "Example:\n  quorate -C my-project backup /mnt/backup/2026-11-21\n");
  backup->callback([options, &global] {
    make_backup(global, options->to, options->backup);
  });

  CLI::App* restoring = app.add_subcommand(
      "restore", "Make a project from a backup, in a new folder");
  restoring->add_option("BACKUP", options->from, "A folder that `backup` made")
      ->required();
  restoring->add_option("DIR", options->to, "A new or empty folder")
      ->required();
  restoring->add_flag("--json", global.json, "Machine-readable output");
  restoring->footer(
      "Example:\n  quorate restore /mnt/backup/2026-11-21 my-project\n");
  restoring->callback([options, &global] {
    restore_backup(global, options->from, options->to);
  });
}

}  // namespace quorate
