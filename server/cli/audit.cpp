// verify-ledger, replay and audit: is the model what its ledger says, and are
// the results what their units give?
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/auditing/audit_findings.h"
#include "server/cli/auditing/audit_run.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/ledger_pages.h"
#include "server/cli/support/new_file.h"
#include "server/cli/support/progress_line.h"
#include "validator/replay.h"
#include "workunits/ledger/witness.h"
#include "workunits/objects/pytorch_export.h"

namespace quorate {
namespace {

using nlohmann::json;

// What the commands here share: a ledger to read, and how to say what it is.
class Reading {
 public:
  Reading(const GlobalOptions& global, const std::string& run)
      : client_(global.folder),
        objects_(ProjectFolder{client_.root()}.objects()),
        pages_(client_, run),
        sources_(sources_of(ProjectFolder{client_.root()}, pages_, objects_)) {
    sources_.progress = [this](std::uint64_t entries) {
      if (entries % 64 == 0) line_.write(fmt::format("{} entries", entries));
    };
  }
  const LedgerSources& sources() const { return sources_; }
  AdminClient& client() { return client_; }

 private:
  AdminClient client_;
  ObjectReader objects_;
  LedgerPages pages_;
  LedgerSources sources_;
  ProgressLine line_;
};

void put_ledger(json& row, const LedgerReport& report) {
  row["ok"] = report.ok();
  row["entries"] = report.entries;
  row["results"] = report.results;
  if (report.overwritten != 0) row["overwritten"] = report.overwritten;
  if (report.by_revoked != 0) row["by_revoked"] = report.by_revoked;
  row["first_difference"] =
      report.ok() ? json(nullptr) : json(report.first_difference);
}

void put_model(json& row, const ReplayReport& report) {
  put_ledger(row, report.ledger);
  row["final_snapshot"] = report.parameters.hex();
  row["published"] = report.published.hex();
  row["version"] = report.model ? report.model->version() : 0;
  row["left_out"] = report.left_out;
}

void expect_ok(const LedgerReport& report, const std::string& run) {
  if (report.ok()) return;
  throw Error(ErrorKind::corrupt, fmt::format("ledger of run {}: {}", run,
                                              report.first_difference));
}

std::string overwritten_text(const LedgerReport& report) {
  if (report.overwritten == 0) return "";
  return fmt::format(" ({} of them overwritten by other assimilators)",
                     report.overwritten);
}

// Prints the row, or `text` if everything is right; then fails if it is not.
void finish(const json& row, const LedgerReport& report, bool as_json,
            const std::string& run, const std::string& text) {
  if (as_json) {
    say("{}\n", row.dump());
  } else if (report.ok()) {
    say("{}: ok: {} entries, {} results{}{}\n", run, report.entries,
        report.results, overwritten_text(report), text);
  }
  expect_ok(report, run);
}

PublicKey key_of(const json& host) {
  return parse_hex<PublicKey>(host["key"].get<std::string>(), "host key");
}

struct VerifyCommand {
  std::string run;
  std::vector<std::string> witnesses;
};

// How many entries the files have, all of which the ledger has, too.
std::uint64_t compare_witnesses(AdminClient& client,
                                const VerifyCommand& command) {
  const Keyring keys = load_keys(ProjectFolder{client.root()}).ring;
  LedgerPages pages(client, command.run, LedgerPages::With::records);
  std::uint64_t entries = 0;
  for (const std::string& path : command.witnesses) {
    const MappedFile mapped(path);
    LedgerFile file(as_text(mapped.bytes()), path);
    entries += expect_witnessed(
        file, path, keys, [&](std::uint64_t seq) { return pages.record(seq); });
  }
  return entries;
}

void verify(const GlobalOptions& global, const VerifyCommand& command) {
  Reading reading(global, command.run);
  const LedgerReport report = verify_ledger(reading.sources());
  json row{{"recomputed", 0},
           {"final_snapshot", nullptr},
           {"updates_removed", report.updates_removed}};
  std::string text;
  if (report.updates_removed != 0) {
    text += fmt::format(
        ", {} updates removed after the end of the run, as keep_updates_days "
        "says",
        report.updates_removed);
  }
  if (!command.witnesses.empty() && report.ok()) {
    const std::uint64_t entries = compare_witnesses(reading.client(), command);
    row["witnessed"] = entries;
    text += fmt::format(", {} as the witnesses saw them", entries);
  }
  if (report.by_revoked != 0) {
    text += fmt::format(
        ", {} of the entries signed with a key that was revoked since: only a "
        "--witness from before can tell if a thief added some",
        report.by_revoked);
  }
  put_ledger(row, report);
  finish(row, report, global.json, command.run, text);
}

struct ReplayCommand {
  std::string run;
  bool recompute = false;
  std::string device = "cpu";
  std::uint32_t threads = 1;
  std::string without_host;
  std::vector<ResultId> without_results;
  std::string out;

  bool leaves_out() const {
    return !without_host.empty() || !without_results.empty();
  }
  bool force = false;
};

void replay_updates(const GlobalOptions& global, const ReplayCommand& command) {
  Reading reading(global, command.run);
  const ReplayReport report = replay(reading.sources());
  json row{{"recomputed", 0}};
  put_model(row, report);
  finish(row, report.ledger, global.json, command.run,
         ", final parameters " + report.parameters.hex());
}

// What a replay leaves out, for a file's metadata, and for people.
struct LeftOut {
  std::string key;
  std::string value;
  std::string text;
};

LeftOut left_out_of(const ReplayCommand& command, const json& host) {
  if (command.without_results.empty()) {
    return {"quorate.without_host", host["key"].get<std::string>(),
            "host " + host["id"].dump()};
  }
  const std::string ids =
      fmt::format("{}", fmt::join(command.without_results, ", "));
  return {"quorate.without_results", ids, "result " + ids};
}

void write_model(const ReplayReport& report, const ModelSpec& model,
                 const ReplayCommand& command, const LeftOut& what) {
  write_file_durably(
      command.out, write_for_pytorch(model, report.model->published(),
                                     {{"format", "pt"},
                                      {"quorate.run", command.run},
                                      {"quorate.version",
                                       std::to_string(report.model->version())},
                                      {what.key, what.value}}));
}

void replay_without(const GlobalOptions& global, const ReplayCommand& command) {
  if (!command.out.empty()) {
    expect_new_file("replay", command.out, command.force);
  }
  Reading reading(global, command.run);
  ReplayOptions options;
  options.without_results = {command.without_results.begin(),
                             command.without_results.end()};
  json row{{"recomputed", 0}, {"without_results", command.without_results}};
  json host;
  if (!command.without_host.empty()) {
    host = find_host(reading.client(), command.without_host);
    options.without_hosts = {key_of(host)};
    row["without_host"] = host;
  }
  const LeftOut what = left_out_of(command, host);
  const ReplayReport report = replay(reading.sources(), options);
  put_model(row, report);
  if (report.ledger.ok() && !command.out.empty()) {
    const auto record = reading.sources().records(0);
    const auto run = std::get<RunCreated>(parse_entry(record->line).body);
    write_model(report, run.model, command, what);
    row["file"] = command.out;
  }
  finish(row, report.ledger, global.json, command.run,
         fmt::format(", {} left out: without {} the parameters are {}{}",
                     report.left_out, what.text, report.parameters.hex(),
                     command.out.empty() ? "" : ", see " + command.out));
}

void run_audit(const GlobalOptions& global, const AuditOptions& options) {
  AdminClient client(global.folder);
  const AuditReport report = audit(client, options);
  json row{{"recomputed", report.state.recomputed},
           {"device", report.device},
           {"computing_seconds", report.computing_seconds}};
  put_model(row, report.replay);
  const json found = rows_of(client, report.state.found);
  row["false_results"] = found;
  if (!found.empty()) {
    row["ok"] = false;
    if (report.replay.ledger.ok()) row["first_difference"] = line_of(found[0]);
    for (const json& one : found) {
      if (!global.json) say("{}\n", line_of(one));
    }
  }
  if (found.empty() || global.json) {
    finish(row, report.replay.ledger, global.json, options.run,
           fmt::format(", {} recomputed{}, all true; final parameters {}",
                       report.state.recomputed,
                       report.device.empty() ? "" : " on " + report.device,
                       report.replay.parameters.hex()));
  }
  expect_ok(report.replay.ledger, options.run);
  if (found.empty()) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{} of run {}: {} of {} recomputed results are "
                          "false: {}",
                          options.command, options.run, found.size(),
                          report.state.recomputed,
                          advice_for(client, options.run, found)));
}

void add_computing(CLI::App& command, std::string& device,
                   std::uint32_t& threads) {
  command
      .add_option(
          "--device", device,
          "Device that recomputes, as `quorate-worker --list-devices` names it")
      ->capture_default_str();
  command.add_option("--threads", threads, "Threads that compute")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
}

void add_verify(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<VerifyCommand>();
  CLI::App* command = app.add_subcommand(
      "verify-ledger", "Check a run's ledger: chain, seals, objects");
  command->add_option("RUN", options->run, "Name of the run")->required();
  command->add_option("--witness", options->witnesses,
                      "What `ledger` wrote of it earlier, kept elsewhere: is "
                      "it still the same ledger? May be given several times");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n"
      "  quorate -C my-project verify-ledger first\n"
      "  quorate -C my-project verify-ledger first --witness seen.ledger\n");
  command->callback([options, &global] { verify(global, *options); });
}

void add_replay(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<ReplayCommand>();
  CLI::App* command = app.add_subcommand(
      "replay", "Rebuild the model from the ledger's updates, bit for bit");
  command->add_option("RUN", options->run, "Name of the run")->required();
  auto* recompute =
      command->add_flag("--recompute", options->recompute,
                        "Also compute every unit again and compare");
  add_computing(*command, options->device, options->threads);
  auto* without = command->add_option(
      "--without-host", options->without_host,
      "Leave out what this host contributed; give its id, name or key");
  without->excludes(recompute);
  command
      ->add_option("--without-result", options->without_results,
                   "Leave out this result; may be given several times, or "
                   "several ids with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(recompute)
      ->excludes(without);
  command->add_option("--out", options->out,
                      "Write the model without them to this file, for PyTorch");
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate -C my-project replay first\n"
      "  quorate -C my-project replay first --recompute --device cpu:avx2\n"
      "  quorate -C my-project replay first --without-host 5 --out "
      "model.safetensors\n"
      "  quorate -C my-project replay first --without-result 12,15\n");
  command->callback([options, &global] {
    if (!options->out.empty() && !options->leaves_out()) {
      throw Error(ErrorKind::usage,
                  "replay: --out writes the model without some results: give "
                  "--without-host or --without-result, or use `quorate "
                  "export`");
    }
    if (options->recompute) {
      AuditOptions audit;
      audit.run = options->run;
      audit.command = "replay --recompute";
      audit.device = options->device;
      audit.threads = options->threads;
      run_audit(global, audit);
    } else if (options->leaves_out()) {
      replay_without(global, *options);
    } else {
      replay_updates(global, *options);
    }
  });
}

void add_sample(CLI::App& app, GlobalOptions& global) {
  struct Options {
    AuditOptions audit;
    std::string host;
  };
  auto options = std::make_shared<Options>();
  options->audit.share = 0.1;
  CLI::App* command = app.add_subcommand(
      "audit",
      "Recompute a random share of a run's results and compare; after an "
      "interruption the same command continues where it was");
  command->add_option("RUN", options->audit.run, "Name of the run")->required();
  command
      ->add_option("--sample", options->audit.share,
                   "Share of the results to recompute, 0 to 1")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--host", options->host,
                      "Only this host's results; give its id, name or key");
  command->add_option("--seed", options->audit.seed,
                      "Seed of the draw, to repeat it [secret and random]");
  add_computing(*command, options->audit.device, options->audit.threads);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate -C my-project audit first --sample 0.2\n");
  command->callback([options, &global] {
    if (!options->host.empty()) {
      AdminClient client(global.folder);
      options->audit.host = key_of(find_host(client, options->host));
    }
    run_audit(global, options->audit);
  });
}

}  // namespace

void add_audit(CLI::App& app, GlobalOptions& global) {
  add_verify(app, global);
  add_replay(app, global);
  add_sample(app, global);
}

}  // namespace quorate
