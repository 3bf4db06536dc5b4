// keys list|renew: which keys speak for the project.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/table.h"
#include "server/settings/key_renewal.h"

namespace quorate {
namespace {

using nlohmann::json;

std::string state_of(const Keyring& ring, const SigningKey& key, Millis now) {
  if (key.is_revoked) return "revoked";
  if (!speaks(key, now)) return "over";
  return &key == &ring.current() ? "signs" : "taken until its end";
}

json rows_of(const Keyring& ring, Millis now) {
  json rows = json::array();
  for (const SigningKey& key : ring.keys) {
    rows.push_back({{"key", key.key.hex()},
                    {"is_root", key.key == ring.root},
                    {"from", key.from == 0 ? json(nullptr) : json(key.from)},
                    {"until", key.until == 0 ? json(nullptr) : json(key.until)},
                    {"state", state_of(ring, key, now)}});
  }
  return rows;
}

void show(const GlobalOptions& global, const Keyring& ring) {
  const json rows = rows_of(ring, SystemClock().unix_ms());
  if (global.json) {
    say("{}\n", json{{"project", ring.project.hex()},
                     {"fingerprint", fingerprint(ring.project)},
                     {"root", ring.root.hex()},
                     {"number", ring.number},
                     {"keys", rows}}
                    .dump());
    return;
  }
  say("Project {}, root key {}.\n{}", fingerprint(ring.project),
      ring.root.hex(),
      table(rows, {{"KEY", "key"},
                   {"FROM", "from"},
                   {"UNTIL", "until"},
                   {"STATE", "state"}}));
  if (ring.number == 0) {
    say("The root signs everything itself. To keep it away from the server: "
        "quorate keys renew --root FILE\n");
  }
}

void add_list(CLI::App& keys, GlobalOptions& global) {
  CLI::App* list = keys.add_subcommand("list", "Show the project's keys");
  list->add_flag("--json", global.json, "Machine-readable output");
  list->footer("Example:\n  quorate -C my-project keys list\n");
  list->callback([&global] {
    show(global, load_keys(ProjectFolder{global.folder}).ring);
  });
}

void add_renew(CLI::App& keys, GlobalOptions& global) {
  struct Options {
    std::string root;
    KeyTerms terms;
  };
  auto options = std::make_shared<Options>();
  CLI::App* renew = keys.add_subcommand(
      "renew",
      "Give the server a new key to sign with. The first time, the key that "
      "the project has now is its root: it moves to FILE");
  renew
      ->add_option("--root", options->root,
                   "File of the root key, outside of the project's folder")
      ->required();
  renew
      ->add_option("--days", options->terms.days,
                   "How long volunteers take what the new key signs")
      ->check(CLI::Range(1U, kMostKeyDays))
      ->capture_default_str();
  renew->add_flag("--revoke", options->terms.revoke,
                  "Others may have the present key: nothing it signed is taken "
                  "any more");
  renew->add_flag("--json", global.json, "Machine-readable output");
  renew->footer(
      "Examples:\n"
      "  quorate -C my-project keys renew --root /media/stick/root.key\n"
      "  quorate -C my-project keys renew --root /media/stick/root.key "
      "--revoke\n");
  renew->callback([options, &global] {
    const ProjectFolder folder{global.folder};
    const bool is_first = !fs::exists(folder.keyring());
    const Keyring ring = renew_key(folder, options->root, options->terms,
                                   SystemClock().unix_ms());
    show(global, ring);
    if (global.json) return;
    if (is_first) {
      say("The root key is in {0} now, and only there. Take it away from this "
          "machine, keep a second copy, and bring it for the next renewal: "
          "without it nobody can renew the project's key.\n"
          "Clients older than this version cannot follow: their volunteers "
          "have to update.\n",
          options->root);
    }
    if (options->terms.revoke) {
      say("Units that the revoked key sealed are cancelled when the server "
          "starts. What a thief may have added to a ledger, only what others "
          "kept of it can tell: quorate verify-ledger RUN --witness FILE\n");
    }
  });
}

}  // namespace

void add_keys(CLI::App& app, GlobalOptions& global) {
  CLI::App* keys = app.add_subcommand(
      "keys", "The project's root key, and those that sign for it");
  keys->require_subcommand(1);
  keys->footer("Example:\n  quorate -C my-project keys list\n");
  add_list(*keys, global);
  add_renew(*keys, global);
}

}  // namespace quorate
