// export: a published version as a safetensors file for PyTorch and others.
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
#include "workunits/objects/object_store.h"
#include "workunits/objects/pytorch_export.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

// What the ledger says of the version, now.
Provenance provenance_of(AdminClient& client, const json& version) {
  const ProjectKeys keys = load_keys(ProjectFolder{client.root()});
  LedgerPages pages(client, version["run"].get<std::string>(),
                    LedgerPages::With::records);
  std::uint64_t seq = 0;
  return quorate::provenance_of([&] { return pages.record(seq++); }, keys.ring,
                                version["version"].get<std::uint64_t>());
}

// quorate.not_verified is there only if there is something of it.
std::map<std::string, std::string> metadata_of(const json& version,
                                               const Provenance& made_of) {
  std::map<std::string, std::string> entries = description_of(made_of);
  entries.merge(std::map<std::string, std::string>{
      {"format", "pt"},
      {"quorate.version", version["version"].dump()},
      {"quorate.accuracy", version["accuracy"].dump()},
      {"quorate.chosen_on", "the data set's held-out part"},
      {"quorate.model", version["model"].dump()},
      {"quorate.input", "U8 images / 255, no mean subtracted"},
      {"quorate.ledger_entries", std::to_string(made_of.entries)},
      {"quorate.ledger_head", made_of.head.hex()}});
  if (!made_of.unverified.empty()) {
    entries["quorate.not_verified"] =
        fmt::format("{} results were accepted without recomputation",
                    made_of.unverified.size());
  }
  return entries;
}

}  // namespace

void add_export(CLI::App& app, GlobalOptions& global) {
  struct Options {
    std::string run;
    std::string version = "best";
    std::string out;
    bool force = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("export", "Write a model as a safetensors file");
  command->add_option("RUN", options->run, "Name of the run")->required();
  command
      ->add_option("--version", options->version,
                   "Number of a published version, or best, or last")
      ->capture_default_str();
  command->add_option("--out", options->out, "File to write")->required();
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate -C my-project export first --out "
      "model.safetensors\n");
  command->callback([options, &global] {
    expect_new_file("export", options->out, options->force);
    AdminClient client(global.folder);
    json version = client.call(
        "exportable", {{"run", options->run}, {"version", options->version}});
    ObjectReader objects(ProjectFolder{client.root()}.objects());
    Hash hash = parse_hex<Hash>(version["object"].get<std::string>(), "object");
    ModelSpec model = model_from_json(version["model"].dump());
    std::vector<float> values = read_parameters(
        model, objects.read(hash), "published version " + hash.hex());
    const Provenance made_of = provenance_of(client, version);
    write_file_durably(
        options->out,
        write_for_pytorch(model, values, metadata_of(version, made_of)));
    if (global.json) {
      version["file"] = options->out;
      version["not_verified"] = made_of.unverified.size();
      say("{}\n", version.dump());
      return;
    }
    say("Wrote {}: version {} of run {}, accuracy {:.2f} %.\n", options->out,
        version["version"].dump(), options->run,
        100 * version["accuracy"].get<double>());
    const std::string unverified = unverified_text(made_of);
    if (!unverified.empty()) say("It is {}.\n", unverified);
  });
}

}  // namespace quorate
