#include "client/commands/receipt.h"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "client/status/contact.h"
#include "protocol/text.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate::client {
namespace {

constexpr std::size_t kMostShown = 256;  // bytes of a name
constexpr std::size_t kFingerprintDigits = 32;

std::tm universal_time(Millis unix_ms) {
  return fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000));
}

// Sealed bytes end up in a terminal.
std::string shown(const std::string& name) {
  return protocol::plain_text(name, kMostShown);
}

double credit_of(const Receipt& receipt) {
  return static_cast<double>(receipt.credit_thousandths) / 1000;
}

std::string entries_text(std::uint64_t entries) {
  return entries == 1 ? "1 entry" : fmt::format("{} entries", entries);
}

std::string run_text(const ReceiptRun& run) {
  return fmt::format(
      "  run {} ({}): {} in versions {} to {} of its model\n"
      "    its ledger had {} at that time; the last one has the hash {}\n",
      shown(run.name), shown(run.state), count_text(run.results, "result"),
      run.first_version, run.last_version, entries_text(run.ledger_entries),
      run.ledger_head.hex());
}

nlohmann::ordered_json run_json(const ReceiptRun& run) {
  return {{"run", run.name},
          {"run_id", run.run.hex()},
          {"state", run.state},
          {"results", run.results},
          {"first_version", run.first_version},
          {"last_version", run.last_version},
          {"ledger_entries", run.ledger_entries},
          {"ledger_head", run.ledger_head.hex()}};
}

// By its name, which a project gives to one run only: a ledger begun anew has
// another id.
const ReceiptRun* run_in(const Receipt& receipt, const std::string& run) {
  const auto found =
      std::find_if(receipt.runs.begin(), receipt.runs.end(),
                   [&](const ReceiptRun& one) { return one.name == run; });
  return found == receipt.runs.end() ? nullptr : &*found;
}

// Why a ledger is not the one that a receipt names; empty if it is.
std::string against_ledger(const ReceiptRun& said,
                           const std::vector<Hash>& hashes) {
  if (hashes.size() < said.ledger_entries) {
    return fmt::format("it has {}, and had {}", entries_text(hashes.size()),
                       said.ledger_entries);
  }
  const std::uint64_t last = said.ledger_entries - 1;
  if (hashes[last] == said.ledger_head) return "";
  return fmt::format("entry {} has the hash {}, and had {}", last,
                     hashes[last].hex(), said.ledger_head.hex());
}

bool is_revoked(const Receipt& receipt, const Keyring& keys) {
  const SigningKey* key = keys.find(receipt.keys.current().key);
  return key != nullptr && key->is_revoked;
}

}  // namespace

std::string receipt_text(const Receipt& receipt) {
  std::string text = fmt::format(
      "{}, fingerprint {}, stated under its seal at {:%Y-%m-%d %H:%M:%S} UTC:\n"
      "  host {}\n"
      "  of account {}\n"
      "  has earned {} credit in all runs\n",
      shown(receipt.project), fingerprint(receipt.keys.project),
      universal_time(receipt.when), receipt.host.hex(), receipt.user.hex(),
      credit_of(receipt));
  for (const ReceiptRun& run : receipt.runs) text += run_text(run);
  if (receipt.runs.empty()) {
    text += "  none of its results is part of a model yet\n";
  }
  return text;
}

std::string receipt_json(const Receipt& receipt, const std::string& file) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const ReceiptRun& run : receipt.runs) runs.push_back(run_json(run));
  return nlohmann::ordered_json{
      {"file", file},
      {"project", receipt.project},
      {"fingerprint", fingerprint(receipt.keys.project)},
      {"host", receipt.host.hex()},
      {"account", receipt.user.hex()},
      {"when", receipt.when},
      {"credit", credit_of(receipt)},
      {"runs", std::move(runs)}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void expect_receipt_of(const Receipt& receipt, const Project& project,
                       const PublicKey& host, const std::string& what) {
  if (receipt.keys.project != project.id) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one of project {}, found one of {}: "
                            "is another project served at this address?",
                            what, fingerprint(project.id),
                            fingerprint(receipt.keys.project)));
  }
  if (receipt.host != host) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one for this host, {}, found one "
                            "for {}: ask the project's operator",
                            what, host.hex(), receipt.host.hex()));
  }
}

// We may know of a theft that the receipt's own list does not.
void expect_unrevoked(const Receipt& receipt, const Project& project,
                      const std::string& what) {
  if (!is_revoked(receipt, project.statement.keys)) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: the project has revoked the key that sealed it, "
                          "so that others may have made it: fetch a new one",
                          what));
}

void expect_known_project(const Receipt& receipt, const std::string& key,
                          const std::vector<Project>& attached,
                          const std::string& what) {
  const std::string found = fingerprint(receipt.keys.project);
  const auto known = std::find_if(
      attached.begin(), attached.end(),
      [&](const Project& one) { return one.id == receipt.keys.project; });
  if (known != attached.end()) expect_unrevoked(receipt, *known, what);
  if (key.empty()) {
    if (known != attached.end()) return;
    throw Error(ErrorKind::usage,
                fmt::format("{}: it is of project {}, to which this computer "
                            "is not attached: say --key FINGERPRINT, with the "
                            "fingerprint that the project publishes",
                            what, found));
  }
  if (key.size() < kFingerprintDigits) {
    throw Error(ErrorKind::usage,
                fmt::format("--key {}: expected the {} digits of a "
                            "fingerprint: fewer can be forged",
                            key, kFingerprintDigits));
  }
  if (key == found || key == receipt.keys.project.hex() ||
      key == receipt.keys.root.hex()) {
    return;
  }
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: it belongs to project {}, not to --key {}: do not "
                  "believe it, or ask the project for its fingerprint",
                  what, found, key));
}

void expect_shown_by(LedgerFile& ledger, const std::string& ledger_name,
                     const Receipt& receipt, const std::string& what) {
  if (ledger.keys().project != receipt.keys.project) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: it is of project {}, {} of {}", ledger_name,
                            fingerprint(ledger.keys().project), what,
                            fingerprint(receipt.keys.project)));
  }
  LedgerVerifier verifier(ledger.keys());
  std::vector<Hash> hashes;
  const ReceiptRun* said = nullptr;
  while (const auto record = ledger.next()) {
    const LedgerEntry entry = verifier.next(*record, ledger_name);
    if (const auto* created = std::get_if<RunCreated>(&entry.body)) {
      said = run_in(receipt, created->name);
      if (said == nullptr) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: it is of run {}, of which {} says "
                                "nothing: take the ledger of another run",
                                ledger_name, shown(created->name), what));
      }
    }
    hashes.push_back(record->hash);
  }
  if (said == nullptr || hashes.size() < said->ledger_entries) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: it has {}, fewer than when {} was written: "
                            "fetch the rest with quorate-client ledger",
                            ledger_name, entries_text(hashes.size()), what));
  }
  const std::string why = against_ledger(*said, hashes);
  if (why.empty()) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: {} when the project sealed {}: it has changed "
                          "the history of run {}: keep both files, they prove "
                          "it, and ask its operator",
                          ledger_name, why, what, shown(said->name)));
}

Comparison compare(const std::vector<KeptReceipt>& kept, const Keyring& keys,
                   const std::string& run, const std::vector<Hash>& hashes) {
  Comparison comparison;
  for (const KeptReceipt& one : kept) {
    const ReceiptRun* said = run_in(one.receipt, run);
    if (said == nullptr || is_revoked(one.receipt, keys)) continue;
    ++comparison.receipts;
    const std::string why = against_ledger(*said, hashes);
    if (why.empty()) continue;
    comparison.against.push_back(fmt::format("{}: {}", one.file, why));
  }
  return comparison;
}

std::string receipt_file_name(const ProjectId& project, Millis unix_ms) {
  return fmt::format("quorate-{}-{:%Y-%m-%d}.receipt",
                     fingerprint(project).substr(0, 8),
                     universal_time(unix_ms));
}

}  // namespace quorate::client
