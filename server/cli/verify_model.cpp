// ledger and verify-model: a run's ledger as a file, and whether a model file
// is what a ledger says.
#include <charconv>
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/ledger_pages.h"
#include "server/cli/support/new_file.h"
#include "validator/provenance.h"
#include "workunits/ledger/ledger_file.h"
#include "workunits/objects/pytorch_export.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

struct Options {
  std::string file;
  std::string ledger;
  std::string key;
};

const std::string& entry_of(const Safetensors& file, const std::string& what,
                            const std::string& name) {
  const auto found = file.metadata().find(name);
  if (found != file.metadata().end()) return found->second;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: it has no entry {}: `quorate export` did not "
                          "write it, but an older version, or a replay without "
                          "some results: to check that, repeat the replay "
                          "into another file and compare them",
                          what, name));
}

std::uint64_t number_of(const std::string& text, const std::string& what) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && !text.empty()) return number;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: expected a number, found \"{}\"", what, text));
}

struct ModelFile {
  std::string run;
  ModelClaims claims;
};

ModelFile read_model_file(const std::string& path) {
  const MappedFile mapped(path);
  const Safetensors file(mapped.bytes(), path);
  auto text = [&](const char* name) -> const std::string& {
    return entry_of(file, path, name);
  };
  ModelFile model;
  model.run = text("quorate.run");
  ModelClaims& claims = model.claims;
  claims.run_id = text("quorate.run_id");
  claims.version = number_of(text("quorate.version"), path + ": version");
  claims.model = model_from_json(text("quorate.model"));
  claims.ledger_entries =
      number_of(text("quorate.ledger_entries"), path + ": ledger entries");
  claims.ledger_head =
      parse_hex<Hash>(text("quorate.ledger_head"), path + ": ledger head");
  claims.said = file.metadata();
  claims.published = sha256(write_parameters(
      claims.model, read_from_pytorch(claims.model, mapped.bytes(), path)));
  return model;
}

using Records = std::function<std::optional<LedgerRecord>()>;

json unverified_rows(const Provenance& found) {
  json rows = json::array();
  for (const Provenance::Unverified& one : found.unverified) {
    rows.push_back({{"entry", one.entry}, {"result", one.result}});
  }
  return rows;
}

// Prints what the file is; throws corrupt if it is not what it says.
void compare(const GlobalOptions& global, const std::string& path,
             const ModelClaims& claims, const Records& records,
             const Keyring& keys) {
  Hash entry_at_head;
  const Provenance found = provenance_of(
      records, keys, claims.version, [&](const LedgerRecord& record) {
        if (record.seq + 1 == claims.ledger_entries) {
          entry_at_head = record.hash;
        }
      });
  std::string wrong = difference(claims, found, entry_at_head);
  if (wrong.empty()) wrong = unverified_text(found);
  if (global.json) {
    say("{}\n",
        json{{"ok", wrong.empty()},
             {"first_difference", wrong.empty() ? json(nullptr) : json(wrong)},
             {"run", found.run.name},
             {"version", claims.version},
             {"published", claims.published.hex()},
             {"results", found.results},
             {"hosts", found.hosts},
             {"samples", found.samples},
             {"revoked_before", found.revoked_before},
             {"revoked_later", found.revoked_later},
             {"mixed", found.mixed},
             {"peers", found.peers},
             {"overwritten", found.overwritten},
             {"unverified", unverified_rows(found)},
             {"entries", found.entries}}
            .dump());
  } else if (wrong.empty()) {
    say("{}: ok: version {} of run {}, made of {} results of {} hosts\n", path,
        claims.version, found.run.name, found.results, found.hosts);
    if (found.mixed > 0) {
      say("{} models of {} other projects are mixed in: see docs/peers.md.\n",
          found.mixed, found.peers);
    }
    if (found.revoked_later > 0) {
      say("Since then {} of these results proved false: export a later "
          "version.\n",
          found.revoked_later);
    }
  }
  if (!wrong.empty()) {
    throw Error(ErrorKind::corrupt, fmt::format("{}: {}", path, wrong));
  }
}

// Whoever wrote the file could have made a key: it must be the one that is
// known from elsewhere.
void expect_key(const LedgerFile& file, const Options& options) {
  const std::string fingerprint_of_file = fingerprint(file.keys().project);
  if (options.key == file.keys().root.hex() ||
      options.key == fingerprint_of_file) {
    return;
  }
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: it belongs to project {}, not to --key {}",
                          options.ledger, fingerprint_of_file, options.key));
}

void verify_with_file(const GlobalOptions& global, const Options& options) {
  const ModelFile model = read_model_file(options.file);
  const MappedFile mapped(options.ledger);
  LedgerFile ledger(as_text(mapped.bytes()), options.ledger);
  expect_key(ledger, options);
  compare(
      global, options.file, model.claims, [&] { return ledger.next(); },
      ledger.keys());
}

void verify_here(const GlobalOptions& global, const Options& options) {
  const ModelFile model = read_model_file(options.file);
  AdminClient client(global.folder);
  LedgerPages pages(client, model.run, LedgerPages::With::records);
  std::uint64_t seq = 0;
  compare(
      global, options.file, model.claims, [&] { return pages.record(seq++); },
      load_keys(ProjectFolder{client.root()}).ring);
}

struct LedgerCommand {
  std::string run;
  std::string out;
  bool head = false;
  bool force = false;

  bool is_to_stdout() const { return out == "-"; }
};

void write_ledger(const GlobalOptions& global, const LedgerCommand& command) {
  AdminClient client(global.folder);
  LedgerPages pages(client, command.run, LedgerPages::With::records);
  const ProjectKeys keys = load_keys(ProjectFolder{client.root()});
  std::string text = write_ledger_head(keys.ring) + "\n";
  std::uint64_t entries = 0;
  if (command.head) {
    text += write_ledger_line(pages.head()) + "\n";
    entries = 1;
  } else {
    while (const auto record = pages.record(entries)) {
      text += write_ledger_line(*record) + "\n";
      ++entries;
    }
  }
  if (command.is_to_stdout()) {
    fmt::print("{}", text);
    return;
  }
  write_file_durably(command.out, as_bytes(text));
  if (global.json) {
    say("{}\n", json{{"file", command.out}, {"entries", entries}}.dump());
  } else {
    say("Wrote {}: {} {} of run {}. To check it, people need the project's "
        "fingerprint, {}.\n",
        command.out, entries, entries == 1 ? "entry" : "entries", command.run,
        fingerprint(keys.id));
  }
}

void add_ledger(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<LedgerCommand>();
  CLI::App* command = app.add_subcommand(
      "ledger", "Write a run's ledger to a file, so that others can check it");
  command->add_option("RUN", options->run, "Name of the run")->required();
  command
      ->add_option("--out", options->out, "File to write; -: standard output")
      ->required();
  command->add_flag("--head", options->head,
                    "The newest entry alone, for a witness");
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n"
      "  quorate -C my-project ledger first --out first.ledger\n"
      "  quorate -C my-project ledger first --head --out - | "
      "curl --data-binary @- https://witness.example.org/\n");
  command->callback([options, &global] {
    if (!options->is_to_stdout()) {
      expect_new_file("ledger", options->out, options->force);
    }
    write_ledger(global, *options);
  });
}

}  // namespace

void add_verify_model(CLI::App& app, GlobalOptions& global) {
  add_ledger(app, global);
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify-model", "Check an exported model against its run's ledger");
  command
      ->add_option("FILE", options->file, "A file that `quorate export` wrote")
      ->required();
  auto* ledger = command->add_option(
      "--ledger", options->ledger,
      "A file that `quorate ledger` wrote [this project's ledger]");
  command
      ->add_option("--key", options->key,
                   "The project's fingerprint, as volunteers type it, or its "
                   "key")
      ->needs(ledger);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate verify-model model.safetensors --ledger "
      "first.ledger --key 5f2c9a1e77d0b3c48e06d1f2b7a93c55\n");
  command->callback([options, &global] {
    if (options->ledger.empty()) {
      verify_here(global, *options);
    } else if (options->key.empty()) {
      throw Error(ErrorKind::usage,
                  "verify-model: --ledger needs --key: the fingerprint after "
                  "the # of the project's address");
    } else {
      verify_with_file(global, *options);
    }
  });
}

}  // namespace quorate
